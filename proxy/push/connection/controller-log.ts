import type { Logger } from '../../../shared/telemetry/logger.ts';
import { NO_LEADER } from '../../../shared/snapshot/push-frames.ts';
import { describeProblem, type ControllerProblem } from './controller-problem.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
/** Time after which a problem that lasts is logged again. */
const REMINDER_MS = 10 * MINUTE;
/** Time in which each of several alternating problems is logged once, such as those of two controllers. */
const TURNS_MS = MINUTE;

const CANNOT_CONNECT = 'cannot connect to the controller';
/** Messages of the problems that do not have the general message. */
const MESSAGES: Readonly<Partial<Record<ControllerProblem, string>>> = {
  'no-leader': 'no controller leads yet',
  refused: 'the controller refuses this proxy',
  'same-id': 'another proxy has the same id',
};

type Fields = Readonly<Record<string, unknown>>;

/** Options of a `ControllerLog`. */
export interface ControllerLogOptions {
  readonly logger: Logger;
  /** Address of the controller, as configured. */
  readonly controller: string;
  /** Returns whether a snapshot serves. */
  readonly isServing: () => boolean;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

/**
 * Logs the state of the connection to the controller: every change, and reminders of a lasting
 * problem.
 */
export class ControllerLog {
  readonly #options: ControllerLogOptions;
  readonly #now: () => number;
  #state: ControllerProblem | 'connected' | undefined;
  /** When each problem of this outage was last logged. */
  readonly #loggedAt = new Map<ControllerProblem, number>();

  constructor(options: ControllerLogOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Logs that a stream is open; `address` is the address that was dialled. */
  connected(address: string): void {
    const isNews = this.#state !== 'connected';
    this.#state = 'connected';
    this.#loggedAt.clear();
    if (!isNews) return;
    const { logger, controller } = this.#options;
    logger.info('connected to the controller', { controller, address });
  }

  /** Logs that the connection to an address ended, or could not be opened. */
  failed(failure: unknown, address: string): void {
    const described = describeProblem(failure);
    this.#warn(described.problem, { address, ...described });
  }

  /** Logs that a controller refused the stream. */
  refused(
    answer: { readonly status: number; readonly reason: string | undefined },
    address: string,
  ): void {
    const problem = answer.reason === NO_LEADER ? 'no-leader' : 'refused';
    this.#warn(problem, { address, ...answer });
  }

  /** Logs that another proxy with the same id replaced this proxy's stream. */
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
    logger.warn(MESSAGES[problem] ?? CANNOT_CONNECT, {
      controller,
      serving: isServing(),
      problem,
      ...fields,
    });
  }
}
