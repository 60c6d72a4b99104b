// Small pictures of the pictures that passages stand for.

import { pictureSource } from "./api.js";
import { el } from "./dom.js";

/** The picture at an address of this server, or null where there is none. Its description is the first line of `text`. */
export function thumbnail(address, text) {
  if (address === undefined || address === null) return null;
  const image = el("img", { class: "thumbnail", loading: "lazy", alt: text.split("\n")[0] });
  image.addEventListener("error", () => image.remove()); // the document may have changed meanwhile
  pictureSource(address).then(
    (source) => {
      if (source !== address) image.addEventListener("load", () => URL.revokeObjectURL(source), { once: true });
      image.src = source;
    },
    () => image.remove(),
  );
  return image;
}
