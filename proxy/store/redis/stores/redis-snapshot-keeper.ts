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
/** Base64url characters that hold the id of the sealing key. */
const SEALED_BY_CHARACTERS = 12;
/** The last base64url characters of a seal: no two seals have the same. */
const TAIL_CHARACTERS = 22;

/**
 * KEYS: the snapshot. ARGV: a position, a lifetime in milliseconds, which begins anew when that
 * position is kept. Returns the position and what sealed it, empty when there is none.
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
 * KEYS: the snapshot. ARGV: epoch, sequence, what sealed it, the sealed text, its lifetime in
 * milliseconds, and the last characters of the text that it replaces whatever position is beside it.
 * Returns 1 when kept, 0 when what is there is not older.
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

/** What stands beside the sealed snapshot. */
interface Claim {
  readonly position: SnapshotPosition;
  readonly sealedBy: string;
}

/** What to do about what is kept. `tail` is that of what is replaced whatever it claims to be. */
type Verdict =
  | { readonly kind: 'replace'; readonly tail: string | undefined }
  | { readonly kind: 'leave'; readonly outcome: Exclude<SaveOutcome, 'kept'> };

const REPLACE_OLDER: Verdict = { kind: 'replace', tail: undefined };

/**
 * Keeps the last good snapshot of all proxies of a gateway, for a new one that finds no controller.
 *
 * Position and sealing key can be read beside it, because the script that refuses what is not newer
 * must compare, and because most proxies only have to learn that another one was faster. They are a
 * hint: what counts is the position inside the seal.
 *
 * Attack: whoever can write to Redis writes a position that no controller will ever reach, or a text
 * that does not open. So before a proxy leaves alone what claims to be newer, or, when it is asked
 * again, the same, it opens it; what no key of it opens, and what is older in truth, it replaces.
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
  /** The last position that was found to be kept already, by its claim alone. */
  #believed: string | undefined;

  /** `id` tells the gateways apart that share a Redis. */
  constructor(
    redis: RedisCommands,
    { id, sealer }: { readonly id: string; readonly sealer: Sealer },
  ) {
    this.#redis = redis;
    this.#key = keyOf(redis, 'snapshot', id);
    this.#seal = { sealer, context: `redis ${this.#key} ${SNAPSHOT_FIELD}` };
  }

  async save(placed: PlacedSnapshot): Promise<SaveOutcome> {
    const verdict = await this.#judge(placed.position);
    if (verdict.kind === 'leave') return verdict.outcome;
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
        verdict.tail ?? 'none',
      ],
    );
    // Another proxy was faster, and had the same.
    return integerReply(reply) === 1 ? 'kept' : 'same';
  }

  async load(): Promise<PlacedSnapshot | undefined> {
    const sealed = await this.#readSealed();
    return sealed === null ? undefined : await openSnapshot(sealed, this.#seal);
  }

  async #judge(position: SnapshotPosition): Promise<Verdict> {
    const claim = await this.#look(position);
    if (claim === undefined) return REPLACE_OLDER;
    const order = comparePositions(position, claim.position);
    if (order > 0) return REPLACE_OLDER;
    const ours = formatPosition(position);
    if (order === 0 && !this.#isSealedByOther(claim.sealedBy) && this.#believed !== ours) {
      this.#believed = ours;
      return { kind: 'leave', outcome: 'same' };
    }
    return await this.#judgeSealed(position, claim);
  }

  /** By what is inside the seal. */
  async #judgeSealed(position: SnapshotPosition, claim: Claim): Promise<Verdict> {
    const sealed = await this.#readSealed();
    const kept = sealed === null ? undefined : await positionOfSealed(sealed, this.#seal);
    const order = kept === undefined ? 1 : comparePositions(position, kept);
    if (order < 0) return { kind: 'leave', outcome: 'newer' };
    const isClaimTrue = comparePositions(position, claim.position) === order;
    // A key that is not the first will be dropped.
    if (order === 0 && isClaimTrue && !this.#isSealedByOther(sealed ?? '')) {
      return { kind: 'leave', outcome: 'same' };
    }
    return { kind: 'replace', tail: sealed?.slice(-TAIL_CHARACTERS) ?? '' };
  }

  async #readSealed(): Promise<string | null> {
    return textReply(await this.#redis.send('HGET', this.#key, SNAPSHOT_FIELD));
  }

  async #look(position: SnapshotPosition): Promise<Claim | undefined> {
    const args = [formatPosition(position), milliseconds(LIFETIME_SECONDS)];
    const [text = '', sealedBy = ''] = textsReply(await this.#redis.run(LOOK, [this.#key], args));
    const claimed = parsePosition(text);
    return claimed === undefined ? undefined : { position: claimed, sealedBy };
  }

  #isSealedByOther(sealed: string): boolean {
    return !this.#seal.sealer.isSealedByFirst(sealed);
  }
}
