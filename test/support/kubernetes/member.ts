import {
  startGatehouse,
  type CommandProgram,
  type GatehouseProcess,
  type LogRecord,
} from '../cli.ts';

const LAST_RECORDS = 12;

/** A `gatehouse` process of a cluster, which can be killed, paused and started again. */
export class Member implements AsyncDisposable {
  readonly #argv: readonly string[];
  readonly #variables: Readonly<Record<string, string>>;
  readonly #lives: GatehouseProcess[] = [];
  #isRunning = false;

  constructor(argv: readonly string[], variables: Readonly<Record<string, string>> = {}) {
    this.#argv = argv;
    this.#variables = variables;
  }

  /** Whether it was started and has not ended since. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Process id of the present run. */
  get pid(): number {
    return this.#life.pid;
  }

  /** Starts the process, or starts it again if it ended. It may be another program than that of this checkout. */
  start(program?: CommandProgram): void {
    this.#isRunning = true;
    this.#lives.push(startGatehouse(this.#argv, this.#variables, program));
  }

  /** Returns the record of the present run that has this message, once there is one. */
  async logged(message: string): Promise<LogRecord> {
    return this.#life.logged((record) => record['message'] === message);
  }

  /** Whether the present run has logged it already. */
  hasLogged(message: string): boolean {
    return this.#life.log.some((record) => record['message'] === message);
  }

  /** Kills the process with SIGKILL. */
  async kill(): Promise<void> {
    this.#isRunning = false;
    await this.#lives.at(-1)?.[Symbol.asyncDispose]();
  }

  /** Ends the process with SIGTERM, as Kubernetes does. Resolves with its exit code. */
  async terminate(): Promise<number | null> {
    this.beginTermination();
    return this.exited();
  }

  /** Sends SIGTERM, and does not wait. */
  beginTermination(): void {
    this.#life.signal('SIGTERM');
  }

  /** Waits until the process has ended, and resolves with its exit code. */
  async exited(): Promise<number | null> {
    const code = await this.#life.exited();
    this.#isRunning = false;
    return code;
  }

  /** Pauses the process: connections stay open, and nothing answers. */
  pause(): void {
    this.#life.signal('SIGSTOP');
  }

  resume(): void {
    this.#life.signal('SIGCONT');
  }

  /** Everything that it logged, in all of its runs. */
  get log(): readonly LogRecord[] {
    return this.#lives.flatMap(({ log }) => log);
  }

  /** Everything else that it wrote, in all of its runs. */
  get stderr(): string {
    return this.#lives.map(({ stderr }) => stderr).join('');
  }

  /** The end of both, without the records of requests. */
  get lastWords(): string {
    const records = this.log.filter(isNotOfRequest).slice(-LAST_RECORDS);
    const state = this.#isRunning ? 'runs' : 'does not run';
    const lines = records.map((record) => JSON.stringify(record));
    return [`${this.#argv[0] ?? ''} ${state}:`, ...lines, this.stderr].join('\n');
  }

  get #life(): GatehouseProcess {
    const life = this.#lives.at(-1);
    if (life === undefined) throw new Error('the process has not been started');
    return life;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}

function isNotOfRequest({ service, 'request-id': requestId }: LogRecord): boolean {
  return service !== 'authorize' && requestId === undefined;
}
