import {
  comparePositions,
  formatPosition,
  parsePosition,
  type SnapshotPosition,
} from '../../../../shared/snapshot/snapshot-position.ts';
import type { Sealer } from '../../../crypto/sealer.ts';
import {
  openSnapshot,
  positionOfSealed,
  sealSnapshot,
  type SnapshotSeal,
} from '../../snapshot/sealed-snapshot.ts';
import type {
  PlacedSnapshot,
  SaveOutcome,
  SnapshotKeeper,
} from '../../snapshot/snapshot-keeper.ts';
import { keyOf, milliseconds } from '../records/keys.ts';
import type { RedisCommands, RedisScript } from '../connection/redis-commands.ts';
import { integerReply, textReply, textsReply } from '../connection/replies.ts';

const LIFETIME_SECONDS = 30 * 24 * 60 * 60;

const SNAPSHOT_FIELD = 'snapshot';
/** Number of base64url characters at the start of a seal that hold the id of the sealing key. */
const SEALED_BY_CHARACTERS = 12;
/** Number of base64url characters at the end of a seal, which differ between any two seals. */
const TAIL_CHARACTERS = 22;

/**
 * KEYS: the snapshot. ARGV: a position, and a lifetime in milliseconds, which is set again if that
 * position is stored. Returns the stored position and sealing key, empty if nothing is stored.
 */
const LOOK: RedisScript = {
  keyCount: 1,
  lua: `
    local kept = redis.pcall('HGET', KEYS[1], 'position')
    if type(kept) ~= 'string' then return { '', '' } end
    if kept == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
    return { kept, redis.call('HGET', KEYS[1], 'sealed-by') or '' }
  `,
};

/**
 * KEYS: the snapshot. ARGV: epoch, sequence, sealing key, sealed text, lifetime in milliseconds,
 * and the end of a stored text to replace even if its position is newer, or `none`. Returns 1 if
 * stored, 0 if the stored snapshot is not older.
 */
const KEEP: RedisScript = {
  keyCount: 1,
  lua: `
    local kept = redis.pcall('HGET', KEYS[1], 'position')
    if type(kept) == 'table' then
      redis.call('DEL', KEYS[1])
      kept = ''
    end
    local epoch, sequence = string.match(kept or '', '^(%d+)%.(%d+)$')
    if epoch and #epoch <= 15 and #sequence <= 15 then
      local ahead = tonumber(ARGV[1]) - tonumber(epoch)
      if ahead == 0 then ahead = tonumber(ARGV[2]) - tonumber(sequence) end
      if ahead <= 0 then
        local text = redis.call('HGET', KEYS[1], 'snapshot') or ''
        if ARGV[6] == 'none' or string.sub(text, -${String(TAIL_CHARACTERS)}) ~= ARGV[6] then return 0 end
      end
    end
    redis.call('HSET', KEYS[1], 'position', ARGV[1] .. '.' .. ARGV[2],
      'sealed-by', ARGV[3], 'snapshot', ARGV[4])
    redis.call('PEXPIRE', KEYS[1], ARGV[5])
    return 1
  `,
};

/**
 * Position and sealing key beside the sealed snapshot. Anyone who can write to Redis can forge
 * them.
 */
interface Hint {
  readonly position: SnapshotPosition;
  readonly sealedBy: string;
}

/**
 * Whether to replace the stored snapshot. A text with the end `tail` is replaced whatever its hint.
 */
type SavePlan =
  | { readonly kind: 'replace'; readonly tail: string | undefined }
  | { readonly kind: 'leave'; readonly outcome: Exclude<SaveOutcome, 'kept'> };

const REPLACE_OLDER: SavePlan = { kind: 'replace', tail: undefined };

/**
 * Stores the last good snapshot of all proxies of a gateway, for a new proxy that finds no
 * controller.
 *
 * Position and sealing key are readable beside it, because the script must compare positions, and
 * most proxies only need to learn that the snapshot is stored already. They are a hint: the
 * position inside the seal decides.
 *
 * Attack: someone who can write to Redis writes a position that no controller will ever reach, or
 * text that does not open. If the hint is newer (or, on a repeated save, equal), a proxy opens the
 * seal before it leaves the stored snapshot there. It replaces text that none of its keys opens, and
 * snapshots with an older position inside the seal.
 *
 * Attack: someone who can write to Redis restores an older snapshot that they copied before. It is
 * sealed, so this gateway once served it, and it only reaches proxies that start while no
 * controller answers. A proxy reports the position that it serves; the leader moves above every
 * position it hears of, and sends the current snapshot. So the effect ends with the first
 * connection, and no running proxy goes back. Deleting the snapshot does less harm.
 */
export class RedisSnapshotKeeper implements SnapshotKeeper {
  readonly #redis: RedisCommands;
  readonly #key: string;
  readonly #seal: SnapshotSeal;
  /** The last position that counted as stored by the hint alone. */
  #assumedStored: string | undefined;

  /** `id` identifies the gateway among those that share a Redis. */
  constructor(
    redis: RedisCommands,
    { id, sealer }: { readonly id: string; readonly sealer: Sealer },
  ) {
    this.#redis = redis;
    this.#key = keyOf(redis, 'snapshot', id);
    this.#seal = { sealer, context: `redis ${this.#key} ${SNAPSHOT_FIELD}` };
  }

  async save(placed: PlacedSnapshot): Promise<SaveOutcome> {
    const plan = await this.#plan(placed.position);
    if (plan.kind === 'leave') return plan.outcome;
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
        plan.tail ?? 'none',
      ],
    );
    // Another proxy stored the same snapshot first.
    return integerReply(reply) === 1 ? 'kept' : 'same';
  }

  async load(): Promise<PlacedSnapshot | undefined> {
    const sealed = await this.#readSealed();
    return sealed === null ? undefined : await openSnapshot(sealed, this.#seal);
  }

  async #plan(position: SnapshotPosition): Promise<SavePlan> {
    const hint = await this.#readHint(position);
    if (hint === undefined) return REPLACE_OLDER;
    const order = comparePositions(position, hint.position);
    if (order > 0) return REPLACE_OLDER;
    const ours = formatPosition(position);
    if (order === 0 && !this.#isSealedByOther(hint.sealedBy) && this.#assumedStored !== ours) {
      this.#assumedStored = ours;
      return { kind: 'leave', outcome: 'same' };
    }
    return await this.#planBySeal(position, hint);
  }

  /** Decides by the position inside the seal. */
  async #planBySeal(position: SnapshotPosition, hint: Hint): Promise<SavePlan> {
    const sealed = await this.#readSealed();
    const kept = sealed === null ? undefined : await positionOfSealed(sealed, this.#seal);
    const order = kept === undefined ? 1 : comparePositions(position, kept);
    if (order < 0) return { kind: 'leave', outcome: 'newer' };
    const isHintTrue = comparePositions(position, hint.position) === order;
    // Keys other than the first will be removed.
    if (order === 0 && isHintTrue && !this.#isSealedByOther(sealed ?? '')) {
      return { kind: 'leave', outcome: 'same' };
    }
    return { kind: 'replace', tail: sealed?.slice(-TAIL_CHARACTERS) ?? '' };
  }

  async #readSealed(): Promise<string | null> {
    return textReply(await this.#redis.send('HGET', this.#key, SNAPSHOT_FIELD));
  }

  async #readHint(position: SnapshotPosition): Promise<Hint | undefined> {
    const args = [formatPosition(position), milliseconds(LIFETIME_SECONDS)];
    const [text = '', sealedBy = ''] = textsReply(await this.#redis.run(LOOK, [this.#key], args));
    const hinted = parsePosition(text);
    return hinted === undefined ? undefined : { position: hinted, sealedBy };
  }

  #isSealedByOther(sealed: string): boolean {
    return !this.#seal.sealer.isSealedByFirst(sealed);
  }
}
