import { Session, type Profiler } from 'node:inspector/promises';

/** What a piece of work cost, counted and not timed. */
export interface Work {
  /** Blocks of the product's own code that were entered: each turn of a loop is one. */
  readonly blocks: number;
  /** Characters that built-in functions read or wrote for it: a `slice` is as many as it copies. */
  readonly characters: number;
}

const PRODUCT = /\/(?:proxy|shared)\/[^?]+\.ts$/;

/**
 * Counts the work of a function, so that tests can hold it to a bound on a busy machine too.
 *
 * V8 counts the blocks. What built-in functions do inside is not in its counts, so those that read texts are
 * replaced meanwhile by functions that count the characters.
 */
export class WorkMeter implements AsyncDisposable {
  readonly #session = new Session();

  static async start(): Promise<WorkMeter> {
    const meter = new WorkMeter();
    meter.#session.connect();
    // The scripts of earlier test files are counted too, as long as they are in memory.
    await meter.#session.post('HeapProfiler.collectGarbage');
    await meter.#session.post('Profiler.enable');
    const options = { callCount: true, detailed: true };
    await meter.#session.post('Profiler.startPreciseCoverage', options);
    return meter;
  }

  /**
   * Counts the work of a function, and what the product did since the last count: to take the counts of all
   * scripts costs a fifth of a second, and sets them to zero.
   */
  async measure(run: () => Promise<unknown>): Promise<Work> {
    using counted = countCharacters();
    await run();
    return { blocks: await this.#takeBlocks(), characters: counted.characters };
  }

  async #takeBlocks(): Promise<number> {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    return result.filter(({ url }) => PRODUCT.test(url)).reduce(addBlocks, 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#session.post('Profiler.stopPreciseCoverage');
    this.#session.disconnect();
  }
}

function addBlocks(sum: number, { functions }: Profiler.ScriptCoverage): number {
  const ranges = functions.flatMap((each) => each.ranges);
  return ranges.reduce((blocks, { count }) => blocks + count, sum);
}

interface Counted extends Disposable {
  readonly characters: number;
}

/** Returns the characters that a call read or wrote. `from` is where an expression began to search. */
type CostOf = (self: unknown, result: unknown, args: readonly unknown[], from: number) => number;

const length = (value: unknown): number => (typeof value === 'string' ? value.length : 0);
const whole: CostOf = (self) => length(self);
const written: CostOf = (_self, result) => length(result);
const argument: CostOf = (_self, _result, [first]) => length(first);

/** A search reads from its start to what it found, or else to the end. */
const forwards: CostOf = (self, result, [, start]) =>
  (result === -1 ? length(self) : Number(result)) - Number(start ?? 0);
const backwards: CostOf = (self, result, [, start]) =>
  Math.min(length(self), Number(start ?? Infinity)) - Math.max(0, Number(result));

/** A search for an expression reads from its start to the end of the match, or else of the text. */
const searched: CostOf = (self, result, [text], from) => {
  const found = result !== null && result !== false;
  if (!found || !(self instanceof RegExp)) return length(text) - from;
  if (self.global || self.sticky) return self.lastIndex - from;
  if (result === true) return length(text);
  const { index, 0: match } = result as RegExpExecArray;
  return index + match.length;
};

const METERED: readonly (readonly [object, Readonly<Record<string, CostOf>>])[] = [
  [
    String.prototype,
    {
      ...{ slice: written, substring: written, startsWith: argument, endsWith: argument },
      ...{ split: whole, replace: whole, replaceAll: whole, match: whole, matchAll: whole },
      ...{ toLowerCase: whole, toUpperCase: whole, trim: whole, includes: whole, repeat: written },
      ...{ indexOf: forwards, lastIndexOf: backwards },
    },
  ],
  [RegExp.prototype, { exec: searched, test: searched }],
  [Map.prototype, { get: argument, has: argument, set: argument }],
  [Set.prototype, { has: argument, add: argument }],
  [Array.prototype, { join: written }],
  [JSON, { parse: argument, stringify: written }],
  [URLSearchParams.prototype, { get: argument, getAll: argument }],
];

function countCharacters(): Counted {
  const counted = { characters: 0 };
  const restored = METERED.flatMap(([owner, costs]) =>
    Object.entries(costs).map(([name, costOf]) => {
      const descriptor = Object.getOwnPropertyDescriptor(owner, name);
      if (descriptor === undefined) throw new Error(`there is no ${name}`);
      // All of them are functions.
      const original = descriptor.value as (...args: unknown[]) => unknown;
      const value = function (this: unknown, ...args: unknown[]): unknown {
        const from = this instanceof RegExp && (this.global || this.sticky) ? this.lastIndex : 0;
        const result = Reflect.apply(original, this, args);
        // One for the call itself.
        counted.characters += 1 + costOf(this, result, args, from);
        return result;
      };
      Object.defineProperty(owner, name, { ...descriptor, value });
      return () => Object.defineProperty(owner, name, descriptor);
    }),
  );
  return {
    get characters() {
      return counted.characters;
    },
    [Symbol.dispose]() {
      for (const restore of restored) restore();
    },
  };
}
