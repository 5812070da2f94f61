import type { Logger } from '../../shared/telemetry/logger.ts';
import { describeError } from '../../shared/telemetry/describe-error.ts';
import { KubernetesApiError, type ResourceType, type Scope } from './kubernetes-api.ts';

/** Why a type cannot be followed. */
export type WatchProblem =
  /** The API server does not answer, or refuses for a while. */
  | 'unavailable'
  /** It does not take our credentials. */
  | 'unauthorized'
  /** We may not. */
  | 'forbidden'
  /** The API server does not know the type. */
  | 'not-installed';

/** How well the objects of one type can be followed. */
export interface WatchHealth {
  /** Plural name of the type. */
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
  /** Whether all objects were known once. */
  readonly isSynced: boolean;
  /** When the API server was heard of last, in milliseconds since the epoch. */
  readonly lastHeardAt: number | undefined;
  /** Absent while all is well. */
  readonly problem?: WatchProblem;
  /** What went wrong last, in words. */
  readonly lastError?: string;
}

/** Keeps the health of a watch, and logs when it changes: once, and not with every attempt. */
export class HealthRecord {
  readonly #of: Pick<WatchHealth, 'resource' | 'namespace' | 'name'>;
  readonly #logger: Logger;
  #isSynced = false;
  #lastHeardAt: number | undefined;
  #problem: WatchProblem | undefined;
  #lastError: string | undefined;
  #isInstalled = true;

  constructor(type: ResourceType, scope: Scope, logger: Logger) {
    this.#of = { resource: type.plural, ...scope };
    this.#logger = logger;
  }

  get current(): WatchHealth {
    return {
      ...this.#of,
      isSynced: this.#isSynced,
      lastHeardAt: this.#lastHeardAt,
      ...(this.#problem !== undefined && { problem: this.#problem }),
      ...(this.#lastError !== undefined && { lastError: this.#lastError }),
    };
  }

  /** The API server told something. */
  heard(): void {
    this.#lastHeardAt = Date.now();
  }

  /** All objects are known. */
  synced(): void {
    this.heard();
    this.#isSynced = true;
  }

  /** Changes come in. */
  works(): void {
    this.#isInstalled = true;
    this.#recovered();
  }

  /** The type, which may be missing, is. */
  isNotInstalled(): void {
    this.#recovered();
    if (this.#isInstalled) this.#logger.info('kubernetes resource is not installed', this.#of);
    this.#isInstalled = false;
  }

  failed(error: unknown): void {
    const problem = problemOf(error);
    this.#lastError = describeError(error);
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#logger.warn('kubernetes watch fails', { ...this.#of, problem }, error);
  }

  #recovered(): void {
    this.heard();
    if (this.#problem === undefined) return;
    this.#problem = undefined;
    this.#logger.info('kubernetes watch works again', this.#of);
  }
}

function problemOf(error: unknown): WatchProblem {
  if (!(error instanceof KubernetesApiError)) return 'unavailable';
  if (error.code === 401) return 'unauthorized';
  if (error.code === 403) return 'forbidden';
  return error.code === 404 ? 'not-installed' : 'unavailable';
}
