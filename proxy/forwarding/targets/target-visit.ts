import { UpstreamUnreachableError } from '../../errors/upstream-errors.ts';
import type { TargetLoads } from './target-loads.ts';
import type { Target, TargetChoice } from './target.ts';

/** One request at its target, from the choice of the target to the end of the request. */
export class TargetVisit {
  readonly #choice: TargetChoice;
  readonly #loads: TargetLoads;
  #target: Target;
  #hasMoved = false;
  #isOver = false;

  constructor(choice: TargetChoice, loads: TargetLoads) {
    this.#choice = choice;
    this.#loads = loads;
    const target = loads.enter(choice);
    if (target === undefined) throw new UpstreamUnreachableError('the Service has no target');
    this.#target = target;
  }

  /** `http://host:port` to connect to. */
  get origin(): string {
    return this.#target.origin;
  }

  /**
   * Moves on to another target after this one accepted no connection, and avoids this one for a while.
   * Returns false if there is no other target, or the visit has already moved on.
   */
  moveOn(): boolean {
    const refused = this.#target;
    this.#loads.avoid(refused);
    if (this.#isOver || this.#hasMoved) return false;
    this.#hasMoved = true;
    const others = this.#choice.targets.filter(({ origin }) => origin !== refused.origin);
    const next = this.#loads.enter({ ...this.#choice, targets: others });
    if (next === undefined) return false;
    this.#loads.leave(refused);
    this.#target = next;
    return true;
  }

  /** Ends the visit: the request is over. */
  leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#loads.leave(this.#target);
  }
}
