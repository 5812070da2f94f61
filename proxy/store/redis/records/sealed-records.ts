import type { Sealed, Sealer } from '../../../crypto/sealer.ts';
import type { Guard } from './guards.ts';
import { keyOf, milliseconds, type KeyKind } from './keys.ts';
import { RecordSeal } from './record-seal.ts';
import type { RedisCommands } from '../connection/redis-commands.ts';
import { integerReply, textReply } from '../connection/replies.ts';
import { REPLACE_AND_EXTEND, REPLACE_IF_EQUAL } from '../connection/scripts.ts';

/** A record and its sealed text. If the text is still the same, the record is unchanged. */
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

  /** Null if there is no record. A record that does not open is an error, not absent. */
  async read(id: string): Promise<ReadRecord<Value> | null> {
    const key = this.keyOf(id);
    const sealed = textReply(await this.#redis.send('GET', key));
    return sealed === null ? null : { value: this.#seal.open(key, sealed), sealed };
  }

  async save(id: string, value: Value, ttlSeconds: number): Promise<void> {
    const sealed = this.seal(id, value);
    await this.#redis.send('SET', this.keyOf(id), sealed, 'PX', milliseconds(ttlSeconds));
  }

  /** Returns whether there was a record. */
  async delete(id: string): Promise<boolean> {
    return integerReply(await this.#redis.send('DEL', this.keyOf(id))) === 1;
  }

  /**
   * Replaces the record that was read, if it is unchanged. The lifetime stays the same unless one
   * is given.
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
   * Replaces the record that was read, if it is unchanged; saves the first one if none was read. The lifetime
   * becomes at least `ttlSeconds` from now.
   */
  async replaceAndExtend(
    id: string,
    read: ReadRecord<Value> | null,
    value: Value,
    ttlSeconds: number,
  ): Promise<boolean> {
    const args = [read?.sealed ?? '', this.seal(id, value), milliseconds(ttlSeconds)];
    return integerReply(await this.#redis.run(REPLACE_AND_EXTEND, [this.keyOf(id)], args)) === 1;
  }

  /**
   * Extends the lifetime to at least `ttlSeconds` from now; an absent record stays absent.
   *
   * A record that is extended again and again would need its sealing key for ever. Therefore it is
   * sealed again if the first key has not sealed it.
   */
  async extend(id: string, ttlSeconds: number): Promise<void> {
    const key = this.keyOf(id);
    const sealed = textReply(await this.#redis.send('GET', key));
    if (sealed === null) return;
    if (!this.#seal.isFresh(sealed)) {
      const value = this.#seal.open(key, sealed);
      // If it changed meanwhile, that change sealed it with the first key.
      await this.replace(id, { value, sealed }, value);
    }
    await this.#redis.send('PEXPIRE', key, milliseconds(ttlSeconds), 'GT');
  }
}
