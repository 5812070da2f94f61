import type { NackError, NackReason, ProxyFrame } from '../../../shared/snapshot/push-frames.ts';

/** A version of a snapshot, or the hash of a resource. */
const VERSION = /^[0-9a-f]{64}$/;
const LONGEST_KEY = 600;
/** What a message may take in a status or a log. */
const LONGEST_MESSAGE = 1000;
const REASONS: ReadonlySet<unknown> = new Set<NackReason>([
  'InvalidResource',
  'StalePosition',
  'UnknownBase',
  'BrokenSnapshot',
]);

/** Reads a line that a proxy sent; undefined for what is no frame of the protocol. */
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
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function parseAck({ epoch, seq, manifest, appliedMs }: Members): ProxyFrame | undefined {
  if (!isCount(epoch) || !isCount(seq) || !isVersion(manifest)) return undefined;
  if (typeof appliedMs !== 'number' || appliedMs < 0) return undefined;
  return { t: 'ack', epoch, seq, manifest, appliedMs };
}

function parseNack({ epoch, seq, errors, manifest }: Members): ProxyFrame | undefined {
  if (!isCount(epoch) || !isCount(seq)) return undefined;
  if (manifest !== null && !isVersion(manifest)) return undefined;
  if (!Array.isArray(errors) || !errors.every(isNackError)) return undefined;
  const shortened = errors.map((error) => ({
    ...error,
    message: error.message.slice(0, LONGEST_MESSAGE),
  }));
  return { t: 'nack', epoch, seq, errors: shortened, manifest };
}

function parseStatus({ ready, draining, conns }: Members): ProxyFrame | undefined {
  if (typeof ready !== 'boolean' || typeof draining !== 'boolean' || !isCount(conns)) {
    return undefined;
  }
  return { t: 'status', ready, draining, conns };
}

function isNackError(value: unknown): value is NackError {
  if (!isObject(value)) return false;
  const { k, reason, message, s } = value;
  return (
    typeof k === 'string' &&
    k.length <= LONGEST_KEY &&
    REASONS.has(reason) &&
    typeof message === 'string' &&
    (s === undefined || isVersion(s))
  );
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isVersion(value: unknown): value is string {
  return typeof value === 'string' && VERSION.test(value);
}
