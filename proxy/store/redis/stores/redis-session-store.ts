import type { Sealer } from '../../../crypto/sealer.ts';
import type { Session } from '../../../records/session.ts';
import type { SessionStore } from '../../session-store.ts';
import { isSession } from '../records/record-guards.ts';
import type { RedisCommands } from '../connection/redis-commands.ts';
import { SealedRecords } from '../records/sealed-records.ts';

/** Sessions of all proxies. */
export class RedisSessionStore implements SessionStore {
  readonly #redis: RedisCommands;
  readonly #records: SealedRecords<Session>;

  constructor(redis: RedisCommands, sealer: Sealer) {
    this.#redis = redis;
    this.#records = new SealedRecords(redis, { sealer, kind: 'session', isValue: isSession });
  }

  async create(session: Session): Promise<void> {
    const { id } = session;
    const sealed = this.#records.seal(id, session);
    const expiresAt = Math.trunc(session.expiresAt);
    await this.#redis.send('SET', this.#records.keyOf(id), sealed, 'PXAT', expiresAt);
  }

  async get(id: string): Promise<Session | null> {
    return (await this.#records.read(id))?.value ?? null;
  }

  async revoke(id: string): Promise<void> {
    await this.#records.delete(id);
  }
}
