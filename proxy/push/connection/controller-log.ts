import type { Logger } from '../../../shared/telemetry/logger.ts';
import { NO_LEADER } from '../../../shared/snapshot/push-frames.ts';
import { describeProblem, type ControllerProblem } from './controller-problem.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
/** A problem that lasts is logged again after this time. */
const REMINDER_MS = 10 * MINUTE;
/** Problems that take turns, as those of two controllers do, are each logged once in this time. */
const TURNS_MS = MINUTE;

const CANNOT_FOLLOW = 'cannot follow the controller';
/** What is said of a problem that has words of its own. */
const MESSAGES: Readonly<Partial<Record<ControllerProblem, string>>> = {
  'no-leader': 'no controller leads yet',
  refused: 'the controller refuses this proxy',
  'same-id': 'another proxy has the same id',
};

type Fields = Readonly<Record<string, unknown>>;

export interface ControllerLogOptions {
  readonly logger: Logger;
  /** Address of the controller, as it was given. */
  readonly controller: string;
  /** Whether a snapshot serves, whatever becomes of the controller. */
  readonly isServing: () => boolean;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

/** Logs how it stands with the controller: every change, and a problem that lasts now and then. */
export class ControllerLog {
  readonly #options: ControllerLogOptions;
  readonly #now: () => number;
  #state: ControllerProblem | 'connected' | undefined;
  /** When each problem of this outage was logged last. */
  readonly #loggedAt = new Map<ControllerProblem, number>();

  constructor(options: ControllerLogOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** `address` is where it was found. */
  connected(address: string): void {
    const isNews = this.#state !== 'connected';
    this.#state = 'connected';
    this.#loggedAt.clear();
    if (!isNews) return;
    const { logger, controller } = this.#options;
    logger.info('following the controller', { controller, address });
  }

  /** The connection to an address ended, or there is none to be had. */
  failed(failure: unknown, address: string): void {
    const described = describeProblem(failure);
    this.#warn(described.problem, { address, ...described });
  }

  /** A controller answers, and lets this proxy have nothing. */
  refused(
    answer: { readonly status: number; readonly reason: string | undefined },
    address: string,
  ): void {
    const problem = answer.reason === NO_LEADER ? 'no-leader' : 'refused';
    this.#warn(problem, { address, ...answer });
  }

  /** The controller gave the place of this proxy to another one. */
  displaced(proxyId: string, address: string): void {
    this.#warn('same-id', { address, proxyId });
  }

  #warn(problem: ControllerProblem, fields: Fields): void {
    const isSame = problem === this.#state;
    this.#state = problem;
    const now = this.#now();
    const loggedAt = this.#loggedAt.get(problem) ?? -Infinity;
    if (now - loggedAt < (isSame ? REMINDER_MS : TURNS_MS)) return;
    this.#loggedAt.set(problem, now);
    const { logger, controller, isServing } = this.#options;
    logger.warn(MESSAGES[problem] ?? CANNOT_FOLLOW, {
      controller,
      serving: isServing(),
      problem,
      ...fields,
    });
  }
}
