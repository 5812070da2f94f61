import {
  LONGEST_KEY_LENGTH,
  type RejectedEntry,
  type RejectionReason,
  type ProxyFrame,
} from '../../../shared/snapshot/push-frames.ts';
import { isRecord } from '../../../shared/runtime/is-record.ts';
import { parseUpstreamAuth } from './parse-upstream-auth.ts';

/** The version of a snapshot, or the hash of a resource. */
const VERSION = /^[0-9a-f]{64}$/;
/** Longer messages are cut, for statuses and logs. */
const LONGEST_MESSAGE = 1000;
const REASONS: ReadonlySet<unknown> = new Set<RejectionReason>([
  'InvalidResource',
  'StalePosition',
  'UnknownBase',
  'BrokenSnapshot',
]);

/** Parses a line that a proxy sent; undefined if it is not a frame of the protocol. */
export function parseProxyFrame(line: string): ProxyFrame | undefined {
  const frame = parseObject(line);
  switch (frame?.['t']) {
    case 'ack':
      return parseAck(frame);
    case 'nack':
      return parseNack(frame);
    case 'status':
      return parseStatus(frame);
    case 'pong':
      return { t: 'pong' };
    default:
      return undefined;
  }
}

type Members = Readonly<Record<string, unknown>>;

function parseObject(line: string): Members | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function parseAck({ epoch, seq, version, appliedMs }: Members): ProxyFrame | undefined {
  if (!isCount(epoch) || !isCount(seq) || !isVersion(version)) return undefined;
  if (typeof appliedMs !== 'number' || appliedMs < 0) return undefined;
  return { t: 'ack', epoch, seq, version, appliedMs };
}

function parseNack({ epoch, seq, rejected, version }: Members): ProxyFrame | undefined {
  if (!isCount(epoch) || !isCount(seq)) return undefined;
  if (version !== null && !isVersion(version)) return undefined;
  if (!Array.isArray(rejected) || !rejected.every(isRejectedEntry)) return undefined;
  const shortened = rejected.map((entry) => ({
    ...entry,
    message: entry.message.slice(0, LONGEST_MESSAGE),
  }));
  return { t: 'nack', epoch, seq, rejected: shortened, version };
}

function parseStatus({
  ready,
  draining,
  conns,
  upstreamAuth = [],
}: Members): ProxyFrame | undefined {
  if (typeof ready !== 'boolean' || typeof draining !== 'boolean' || !isCount(conns)) {
    return undefined;
  }
  const reports = parseUpstreamAuth(upstreamAuth);
  return reports && { t: 'status', ready, draining, conns, upstreamAuth: reports };
}

function isRejectedEntry(value: unknown): value is RejectedEntry {
  if (!isRecord(value)) return false;
  const { key, reason, message, servedHash } = value;
  return (
    typeof key === 'string' &&
    key.length <= LONGEST_KEY_LENGTH &&
    REASONS.has(reason) &&
    typeof message === 'string' &&
    (servedHash === undefined || isVersion(servedHash))
  );
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isVersion(value: unknown): value is string {
  return typeof value === 'string' && VERSION.test(value);
}
