import type { Logger } from '../../shared/telemetry/logger.ts';
import { describeError } from '../../shared/telemetry/describe-error.ts';
import { FORBIDDEN, NOT_FOUND, UNAUTHORIZED } from './error-codes.ts';
import { KubernetesApiError, type ResourceType, type Scope } from './kubernetes-api.ts';

/** Why the objects of a type cannot be watched. */
export type WatchProblem =
  /** The API server does not respond, or refuses for the moment. */
  | 'unavailable'
  /** The API server does not accept the credentials. */
  | 'unauthorized'
  /** The credentials do not grant access. */
  | 'forbidden'
  /** The API server does not have the type. */
  | 'not-installed';

/** The health of the watch of one type. */
export interface WatchHealth {
  /** Plural name of the type. */
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
  /** Whether all objects have been loaded once. */
  readonly isSynced: boolean;
  /** When the API server last sent something, in milliseconds since 1970; absent: never. */
  readonly activeAt?: number;
  /** Absent while the watch works. */
  readonly problem?: WatchProblem;
  /** The last error, as text. */
  readonly lastError?: string;
}

/** Records the health of a watch, and logs each change of it once. */
export class HealthRecord {
  readonly #subject: Pick<WatchHealth, 'resource' | 'namespace' | 'name'>;
  readonly #logger: Logger;
  #isSynced = false;
  #activeAt: number | undefined;
  #problem: WatchProblem | undefined;
  #lastError: string | undefined;
  #isInstalled = true;

  constructor(type: ResourceType, scope: Scope, logger: Logger) {
    this.#subject = { resource: type.plural, ...scope };
    this.#logger = logger;
  }

  /** The present health of the watch. */
  get current(): WatchHealth {
    return {
      ...this.#subject,
      isSynced: this.#isSynced,
      ...(this.#activeAt !== undefined && { activeAt: this.#activeAt }),
      ...(this.#problem !== undefined && { problem: this.#problem }),
      ...(this.#lastError !== undefined && { lastError: this.#lastError }),
    };
  }

  /** Records that all objects are loaded. */
  recordSync(): void {
    this.#isSynced = true;
    this.#activeAt = Date.now();
  }

  /** Records that a watch is open, or that something arrived on it. */
  recordWatch(): void {
    this.#activeAt = Date.now();
    this.#isInstalled = true;
    this.#recover();
  }

  /** Records that an optional type is not installed. */
  recordNotInstalled(): void {
    this.#recover();
    if (this.#isInstalled) this.#logger.info('kubernetes resource is not installed', this.#subject);
    this.#isInstalled = false;
  }

  /** Records that the API server cannot be reached or refuses the watch. */
  recordFailure(error: unknown): void {
    const problem = problemOf(error);
    this.#lastError = describeError(error);
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#logger.warn('kubernetes watch failed', { ...this.#subject, problem }, error);
  }

  #recover(): void {
    if (this.#problem === undefined) return;
    this.#problem = undefined;
    this.#logger.info('kubernetes watch recovered', this.#subject);
  }
}

function problemOf(error: unknown): WatchProblem {
  if (!(error instanceof KubernetesApiError)) return 'unavailable';
  if (error.code === UNAUTHORIZED) return 'unauthorized';
  if (error.code === FORBIDDEN) return 'forbidden';
  return error.code === NOT_FOUND ? 'not-installed' : 'unavailable';
}
