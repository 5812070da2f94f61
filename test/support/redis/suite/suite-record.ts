import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { linesOf } from './lines-of.ts';
import { argumentsOf } from './monitor-line.ts';
import type { RedisEntry } from './redis-dump.ts';
import type { Secret } from './secret.ts';

/** Environment variable with the directory where the processes of a run on Redis record their data. */
export const RECORD_VARIABLE = 'TEST_REDIS_RECORD';

/** Events of gateways on Redis. The file of each has one line per gateway: the path of the test. */
type Event = 'opened' | 'closed';
type File = Event | 'keys' | 'logs' | 'metrics' | 'secrets' | 'spans';

/** The parts of a span that are searched. */
export interface RecordedSpan {
  readonly name: string;
  /** Values by name, those of its events among them. */
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly error: string | undefined;
}

const COMMANDS = 'commands-';

/** The records of all processes of a run, for the process that started them. */
export class SuiteRecord {
  readonly #directory: string;
  /** Keys of the secrets that this process has recorded. */
  readonly #known = new Set<string>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  add(event: Event, testPath: string): void {
    this.#append(event, `${testPath}\n`);
  }

  addSecrets(secrets: readonly Secret[]): void {
    const added = secrets.filter((secret) => !this.#known.has(keyOf(secret)));
    if (added.length === 0) return;
    for (const secret of added) this.#known.add(keyOf(secret));
    this.#append('secrets', added.map((secret) => `${JSON.stringify(secret)}\n`).join(''));
  }

  addKey(entry: RedisEntry): void {
    this.#append('keys', `${JSON.stringify(entry)}\n`);
  }

  /** `lines` are complete. */
  addLog(lines: string): void {
    this.#append('logs', lines);
  }

  addSpan(span: RecordedSpan): void {
    this.#append('spans', `${JSON.stringify(span)}\n`);
  }

  /** `lines` are complete. */
  addMetrics(lines: string): void {
    this.#append('metrics', lines);
  }

  /** File for the commands of one Redis. */
  newCommandsFile(): string {
    return join(this.#directory, COMMANDS + randomUUID());
  }

  /** Paths of the tests, one per gateway. */
  async testPaths(event: Event): Promise<readonly string[]> {
    const paths: string[] = [];
    for await (const path of this.#lines(event)) paths.push(path);
    return paths;
  }

  async secrets(): Promise<readonly Secret[]> {
    const secrets: Secret[] = [];
    // `addSecrets` wrote this form.
    for await (const line of this.#lines('secrets')) secrets.push(JSON.parse(line) as Secret);
    return secrets;
  }

  async *keys(): AsyncGenerator<RedisEntry> {
    // `addKey` wrote this form.
    for await (const line of this.#lines('keys')) yield JSON.parse(line) as RedisEntry;
  }

  /** Arguments of each command, its name first. */
  async *commands(): AsyncGenerator<readonly string[]> {
    for (const name of readdirSync(this.#directory)) {
      if (!name.startsWith(COMMANDS)) continue;
      for await (const line of linesOf(join(this.#directory, name))) {
        const words = argumentsOf(line);
        if (words !== null) yield words;
      }
    }
  }

  logs(): AsyncIterable<string> {
    return this.#lines('logs');
  }

  async *spans(): AsyncGenerator<RecordedSpan> {
    // `addSpan` wrote this form.
    for await (const line of this.#lines('spans')) yield JSON.parse(line) as RecordedSpan;
  }

  metrics(): AsyncIterable<string> {
    return this.#lines('metrics');
  }

  /** Writes in one call, so that lines of several processes do not mix. */
  #append(file: File, text: string): void {
    appendFileSync(join(this.#directory, file), text);
  }

  async *#lines(file: File): AsyncGenerator<string> {
    const path = join(this.#directory, file);
    if (existsSync(path)) yield* linesOf(path);
  }
}

/** The value of a query may turn out to be a secret that must not be anywhere. */
function keyOf({ value, isQuery }: Secret): string {
  return `${isQuery === true ? '?' : '='}${value}`;
}

/** The record of a run on Redis; undefined in other runs. */
export const suiteRecord = recordIn(process.env[RECORD_VARIABLE]);

function recordIn(directory: string | undefined): SuiteRecord | undefined {
  return directory === undefined ? undefined : new SuiteRecord(directory);
}
