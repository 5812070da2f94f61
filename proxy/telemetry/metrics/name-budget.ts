/** How many names that clients choose may be labels, in all routes of a process together. */
export class NameBudget {
  #left: number;

  constructor(names: number) {
    this.#left = names;
  }

  /** Takes a place for a name; false if there is none. */
  take(): boolean {
    if (this.#left === 0) return false;
    this.#left -= 1;
    return true;
  }

  /** Returns the places of names that are forgotten. */
  giveBack(names: number): void {
    this.#left += names;
  }
}
