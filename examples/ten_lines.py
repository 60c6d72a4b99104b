"""Ten lines of Trivium: a store, a search, an answer.  python examples/ten_lines.py"""

import trivium
from trivium.sample import pages_folder

if __name__ == "__main__":
    with trivium.Engine.create("demo-store") as engine:
        engine.build([pages_folder()])  # leaves alone what is there already
        for hit in engine.search("Who discovered the two moons of Mars?", k=3):
            print(hit.rank, hit.uri, hit.text[:80])
        answer = engine.ask("Who discovered the two moons of Mars?")
        print(answer.text)
        print(*answer.citations, sep="\n")
