import type { Sealed, Sealer } from '../../../crypto/sealer.ts';
import type { Guard } from './guards.ts';
import { keyOf, milliseconds, type KeyKind } from './keys.ts';
import { RecordSeal } from './record-seal.ts';
import type { RedisCommands } from '../connection/redis-commands.ts';
import { integerReply, textReply } from '../connection/replies.ts';
import { REPLACE_IF_EQUAL } from '../connection/scripts.ts';

/** A record as it was read, with the text it was read from: the same text means unchanged. */
export interface ReadRecord<Value> {
  readonly value: Value;
  readonly sealed: string;
}

/** Records of one kind, each a sealed string under a key of its own. */
export class SealedRecords<Value> {
  readonly #redis: RedisCommands;
  readonly #kind: KeyKind;
  readonly #seal: RecordSeal<Value>;

  constructor(
    redis: RedisCommands,
    { sealer, kind, isValue }: { sealer: Sealer; kind: KeyKind; isValue: Guard<Value> },
  ) {
    this.#redis = redis;
    this.#kind = kind;
    this.#seal = new RecordSeal(sealer, kind, isValue);
  }

  keyOf(id: string): string {
    return keyOf(this.#redis, this.#kind, id);
  }

  seal(id: string, value: Value): Sealed {
    return this.#seal.seal(this.keyOf(id), value);
  }

  /** Null when there is none. One that does not open is an error: it is not absent. */
  async read(id: string): Promise<ReadRecord<Value> | null> {
    const key = this.keyOf(id);
    const sealed = textReply(await this.#redis.send('GET', key));
    return sealed === null ? null : { value: this.#seal.open(key, sealed), sealed };
  }

  async save(id: string, value: Value, ttlSeconds: number): Promise<void> {
    const sealed = this.seal(id, value);
    await this.#redis.send('SET', this.keyOf(id), sealed, 'PX', milliseconds(ttlSeconds));
  }

  /**
   * Puts a value in the place of the one that was read, if that is still there. By default it lives
   * as long as that one.
   */
  async replace(
    id: string,
    { sealed }: ReadRecord<Value>,
    value: Value,
    ttlSeconds?: number,
  ): Promise<boolean> {
    const life = ttlSeconds === undefined ? ['KEEPTTL'] : ['PX', milliseconds(ttlSeconds)];
    const args = [sealed, this.seal(id, value), ...life];
    return integerReply(await this.#redis.run(REPLACE_IF_EQUAL, [this.keyOf(id)], args)) === 1;
  }

  /**
   * Moves the expiry to `ttlSeconds` from now if that is later; an absent record stays absent.
   *
   * A record that is extended again and again would need the key it was sealed with for ever, so it
   * is sealed again when that is no longer the first.
   */
  async extend(id: string, ttlSeconds: number): Promise<void> {
    const key = this.keyOf(id);
    const sealed = textReply(await this.#redis.send('GET', key));
    if (sealed === null) return;
    if (!this.#seal.isFresh(sealed)) {
      const value = this.#seal.open(key, sealed);
      // Whoever changed it meanwhile has sealed it as well.
      await this.replace(id, { value, sealed }, value);
    }
    await this.#redis.send('PEXPIRE', key, milliseconds(ttlSeconds), 'GT');
  }
}
