/**
 * The most targets of one port that proxies get. Without limits, one Service could make a snapshot
 * resource that no proxy accepts. All controllers leave out the same targets, since they are sorted.
 */
export const MAX_TARGETS_PER_PORT = 2_000;
/** The most targets of a Service that proxies get. */
export const MAX_TARGETS_PER_SERVICE = 16_000;
/** The most characters of all targets of a Service: host names may be long. */
const MAX_CHARACTERS_PER_SERVICE = 1_000_000;

/** Limits the targets of a Service, one port after the other. */
export class TargetBudget {
  #targets = MAX_TARGETS_PER_SERVICE;
  #characters = MAX_CHARACTERS_PER_SERVICE;

  /** Returns the targets of a port for which there is room. */
  allot(targets: readonly string[]): readonly string[] {
    const allotted: string[] = [];
    for (const target of targets.slice(0, MAX_TARGETS_PER_PORT)) {
      if (this.#targets < 1 || this.#characters < target.length) break;
      this.#targets -= 1;
      this.#characters -= target.length;
      allotted.push(target);
    }
    return allotted;
  }
}
