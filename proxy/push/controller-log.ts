import type { Logger } from '../../shared/process/logger.ts';

/** Logs how it stands with the controller: once for every change, not once for every attempt. */
export class ControllerLog {
  readonly #logger: Logger;
  readonly #controller: string;
  #state = '';

  constructor(logger: Logger, controller: string) {
    this.#logger = logger;
    this.#controller = controller;
  }

  /** `address` is where it was found. */
  connected(address: string): void {
    if (this.#isNews('connected')) this.#info('following the controller', { address });
  }

  /** The connection ended, or there is none to be had. */
  away(error: unknown): void {
    this.#warn('away', 'the controller is away; what it sent last is served', {}, error);
  }

  /** A controller answers, and lets this proxy have nothing. */
  refused(status: number): void {
    const message = 'the controller refuses this proxy; what it sent last is served';
    this.#warn(`refused ${String(status)}`, message, { status });
  }

  #info(message: string, fields: Readonly<Record<string, unknown>>): void {
    this.#logger.info(message, { controller: this.#controller, ...fields });
  }

  #warn(
    state: string,
    message: string,
    fields: Readonly<Record<string, unknown>>,
    cause?: unknown,
  ): void {
    if (!this.#isNews(state)) return;
    this.#logger.warn(message, { controller: this.#controller, ...fields }, cause);
  }

  #isNews(state: string): boolean {
    const isNews = state !== this.#state;
    this.#state = state;
    return isNews;
  }
}
