import {
  comparePositions,
  parsePosition,
  type SnapshotPosition,
} from '../../../shared/snapshot/snapshot-position.ts';
import type { Sealer } from '../../crypto/sealer.ts';
import { openSnapshot, sealSnapshot, type SnapshotSeal } from '../sealed-snapshot.ts';
import type { PlacedSnapshot, SnapshotKeeper } from '../snapshot-keeper.ts';
import { keyOf, milliseconds } from './keys.ts';
import type { RedisCommands, RedisScript } from './redis-connection.ts';
import { integer, textOrNull, texts } from './replies.ts';

const LIFETIME_SECONDS = 30 * 24 * 60 * 60;

const SNAPSHOT_FIELD = 'snapshot';
/** Base64url characters that hold the id of the sealing key. */
const SEALED_BY_CHARACTERS = 12;

/**
 * KEYS: the snapshot. ARGV: its lifetime in milliseconds, which begins anew. Returns its position and
 * what sealed it, empty when there is none.
 */
const LOOK: RedisScript = {
  keyCount: 1,
  lua: `
    redis.call('PEXPIRE', KEYS[1], ARGV[1])
    return {
      redis.call('HGET', KEYS[1], 'position') or '',
      redis.call('HGET', KEYS[1], 'sealed-by') or ''
    }
  `,
};

/**
 * KEYS: the snapshot. ARGV: epoch, sequence, what sealed it, the sealed text, its lifetime in
 * milliseconds, and what may have sealed the same snapshot that it replaces.
 * Returns 1 when kept, 0 when what is there is not older.
 */
const KEEP: RedisScript = {
  keyCount: 1,
  lua: `
    local kept = redis.call('HGET', KEYS[1], 'position') or ''
    local epoch, sequence = string.match(kept, '^(%d+)%.(%d+)$')
    if epoch then
      local ahead = tonumber(ARGV[1]) - tonumber(epoch)
      if ahead == 0 then ahead = tonumber(ARGV[2]) - tonumber(sequence) end
      if ahead < 0 then return 0 end
      if ahead == 0 and redis.call('HGET', KEYS[1], 'sealed-by') ~= ARGV[6] then return 0 end
    end
    redis.call('HSET', KEYS[1], 'position', ARGV[1] .. '.' .. ARGV[2],
      'sealed-by', ARGV[3], 'snapshot', ARGV[4])
    redis.call('PEXPIRE', KEYS[1], ARGV[5])
    return 1
  `,
};

interface Kept {
  readonly position: SnapshotPosition;
  readonly sealedBy: string;
}

/**
 * Keeps the last good snapshot of all proxies of a gateway, for a new one that finds no controller.
 *
 * Position and sealing key can be read beside it, because the script that refuses what is not newer
 * must compare, and because most proxies only have to learn that another one was faster. What counts
 * is the position inside the seal.
 *
 * Attack: whoever can write to Redis can put back an older snapshot that they copied before. It is
 * sealed, so it is one that this gateway once served, and it only reaches proxies that start while no
 * controller answers. A proxy tells the controller the position that it serves; a leader puts itself
 * above every position it hears of, and sends what holds today. So it ends with the first connection,
 * and no proxy that runs takes a step back. To delete the snapshot does less harm still.
 */
export class RedisSnapshotKeeper implements SnapshotKeeper {
  readonly #redis: RedisCommands;
  readonly #key: string;
  readonly #seal: SnapshotSeal;

  /** `id` tells the gateways apart that share a Redis. */
  constructor(
    redis: RedisCommands,
    { id, sealer }: { readonly id: string; readonly sealer: Sealer },
  ) {
    this.#redis = redis;
    this.#key = keyOf(redis, 'snapshot', id);
    this.#seal = { sealer, context: `redis ${this.#key} ${SNAPSHOT_FIELD}` };
  }

  async save(placed: PlacedSnapshot): Promise<boolean> {
    const kept = await this.#look();
    const order = kept === undefined ? 1 : comparePositions(placed.position, kept.position);
    const mayReplaceSame = kept !== undefined && this.#isSealedByOther(kept);
    if (order < 0 || (order === 0 && !mayReplaceSame)) return false;
    const sealed = await sealSnapshot(placed, this.#seal);
    const { epoch, sequence } = placed.position;
    const reply = await this.#redis.run(
      KEEP,
      [this.#key],
      [
        epoch,
        sequence,
        sealed.slice(0, SEALED_BY_CHARACTERS),
        sealed,
        milliseconds(LIFETIME_SECONDS),
        mayReplaceSame ? kept.sealedBy : '',
      ],
    );
    return integer(reply) === 1;
  }

  async load(): Promise<PlacedSnapshot | undefined> {
    const sealed = textOrNull(await this.#redis.send('HGET', this.#key, SNAPSHOT_FIELD));
    return sealed === null ? undefined : await openSnapshot(sealed, this.#seal);
  }

  async #look(): Promise<Kept | undefined> {
    const reply = await this.#redis.run(LOOK, [this.#key], [milliseconds(LIFETIME_SECONDS)]);
    const [text = '', sealedBy = ''] = texts(reply);
    const position = parsePosition(text);
    return position === undefined ? undefined : { position, sealedBy };
  }

  /** The key that sealed it will be dropped, or is one that this proxy does not have. */
  #isSealedByOther({ sealedBy }: Kept): boolean {
    return !this.#seal.sealer.isSealedByFirst(sealedBy);
  }
}
