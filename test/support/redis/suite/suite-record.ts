import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { linesOf } from './lines-of.ts';
import { argumentsOf } from './monitor-line.ts';
import type { RedisEntry } from './redis-dump.ts';
import type { Secret } from './secret.ts';

/** `opened` and `closed` have a line for each gateway on Redis. */
type Counter = 'opened' | 'closed';
type File = Counter | 'keys' | 'logs' | 'secrets';

const COMMANDS = 'commands-';

/** What the processes of a run write down, for the one that started them. */
export class SuiteRecord {
  readonly #directory: string;
  /** What this process wrote before. */
  readonly #known = new Set<string>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  add(counter: Counter): void {
    this.#append(counter, '1\n');
  }

  addSecrets(secrets: readonly Secret[]): void {
    const added = secrets.filter(({ value }) => !this.#known.has(value));
    if (added.length === 0) return;
    for (const { value } of added) this.#known.add(value);
    this.#append('secrets', added.map((secret) => `${JSON.stringify(secret)}\n`).join(''));
  }

  addKey(entry: RedisEntry): void {
    this.#append('keys', `${JSON.stringify(entry)}\n`);
  }

  /** `lines` are whole. */
  addLog(lines: string): void {
    this.#append('logs', lines);
  }

  /** Where a Redis is to write its commands. */
  newCommandsFile(): string {
    return join(this.#directory, COMMANDS + randomUUID());
  }

  async count(counter: Counter): Promise<number> {
    let text = '';
    for await (const line of this.#lines(counter)) text += line;
    return text.length;
  }

  async secrets(): Promise<readonly Secret[]> {
    const secrets: Secret[] = [];
    // `addSecrets` wrote it.
    for await (const line of this.#lines('secrets')) secrets.push(JSON.parse(line) as Secret);
    return secrets;
  }

  async *keys(): AsyncGenerator<RedisEntry> {
    // `addKey` wrote it.
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

  /** One call is one write, so that lines of several processes do not mix. */
  #append(file: File, text: string): void {
    appendFileSync(join(this.#directory, file), text);
  }

  async *#lines(file: File): AsyncGenerator<string> {
    const path = join(this.#directory, file);
    if (existsSync(path)) yield* linesOf(path);
  }
}
