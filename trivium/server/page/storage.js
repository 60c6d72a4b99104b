// What a browser keeps: where it refuses (private mode, blocked, full), as long as the page is open.

function remembered(find) {
  const instead = new Map();
  const attempt = (work, otherwise) => {
    try {
      return work(find());
    } catch {
      return otherwise();
    }
  };
  return {
    get: (key) => attempt((kept) => kept.getItem(key), () => null) ?? instead.get(key) ?? null,
    /** Says whether the browser keeps it. */
    set: (key, value) =>
      attempt(
        (kept) => {
          kept.setItem(key, value);
          instead.delete(key);
          return true;
        },
        () => {
          instead.set(key, value);
          return false;
        },
      ),
    remove: (key) => {
      instead.delete(key);
      attempt((kept) => kept.removeItem(key), () => {});
    },
    keys: () => attempt((kept) => Object.keys(kept), () => [...instead.keys()]),
  };
}

/** Until the tab is closed. */
export const session = remembered(() => sessionStorage);
/** Until it is removed. */
export const local = remembered(() => localStorage);
