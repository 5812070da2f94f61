/**
 * Describes why Redis failed.
 *
 * Never quotes an error: Redis repeats arguments in some, and ioredis whole commands in others. The
 * description consists of constants, error codes and addresses.
 */
export function describeRedisFailure(error: unknown): string {
  if (!isError(error)) return 'unknown failure';
  if (error.name === 'ReplyError') return describeReply(error.message);
  // ioredis asked every node of a Cluster, and reports the last failure.
  if ('lastNodeError' in error && isError(error.lastNodeError)) {
    return describeRedisFailure(error.lastNodeError);
  }
  const { message } = error;
  if (message.startsWith('All sentinels are unreachable')) return describeSentinels(message);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  if (code !== undefined) return [code, ...whereOf(error)].join(' ');
  const known = CLIENT_MESSAGES.find(([pattern]) => pattern.test(message));
  return known?.[1] ?? error.name;
}

/**
 * Returns whether an operator has to change something before Redis can be used. Any other failure
 * may end by itself.
 */
export function needsOperator(reason: string): boolean {
  if (LASTING_TEXTS.some((text) => reason.includes(text))) return true;
  return /^(WRONGPASS|NOAUTH|NOPERM|MOVED|DENIED|ENOENT|EACCES|[A-Z_]*(CERT|UNABLE_TO_VERIFY))/.test(
    reason,
  );
}

/** Returns whether Redis lacks a script in its cache, which is empty after a restart. */
export function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

/** Meanings of Redis's error codes, for operators. The code is the first word of an error. */
const REPLY_CODES: Readonly<Record<string, string>> = {
  WRONGPASS: 'user or password is wrong',
  NOAUTH: 'user and password are missing',
  NOPERM: 'the ACL user may not do this',
  OOM: 'more memory is used than maxmemory allows',
  READONLY: 'this is a replica',
  LOADING: 'it is loading its data',
  MASTERDOWN: 'this is a replica without its master',
  MISCONF: 'it cannot write to disk, and refuses changes',
  NOREPLICAS: 'it has too few replicas, and refuses changes',
  BUSY: 'a script has been running for too long',
  DENIED: 'protected mode lets in local clients only',
  CROSSSLOT: 'keys of one operation are in several slots',
  CLUSTERDOWN: 'not all slots are served',
  MOVED: 'this is a node of a Redis Cluster, which needs redis+cluster://',
};

const NO_CLUSTER = 'this is not a Redis Cluster';
const NO_DATABASE = 'it has no such database';
const TOO_OLD = 'it does not know a command; Redis 7.0 or newer is needed';

/** Meanings of errors that have no code of their own. */
const REPLY_TEXTS: readonly (readonly [RegExp, string])[] = [
  [/cluster support disabled/i, NO_CLUSTER],
  [/max number of clients/i, 'it has its maximum of clients'],
  [/DB index is out of range/i, NO_DATABASE],
  [/unknown command/i, TOO_OLD],
];

/** Meanings of failures that only an operator can end. */
const LASTING_TEXTS = [NO_CLUSTER, NO_DATABASE, TOO_OLD];

const CLIENT_MESSAGES: readonly (readonly [RegExp, string])[] = [
  [/timed out|timeout|^no answer in/i, 'no answer in time'],
  [
    /closed|connection close|writeable|isn't ready|max retries|None of startup nodes/i,
    'the connection is lost',
  ],
  [/^Unknown RESP type/, 'the server does not speak the Redis protocol'],
];

function describeReply(message: string): string {
  const code = /^[A-Z]+(?= |$)/.exec(message)?.[0] ?? 'ERR';
  const meaning =
    deniedRight(message) ??
    REPLY_CODES[code] ??
    REPLY_TEXTS.find(([text]) => text.test(message))?.[1];
  // The line in the Lua script.
  const line = /user_script:\d+/.exec(message)?.[0];
  const details = [meaning, line].filter((detail) => detail !== undefined);
  return details.length === 0 ? code : `${code}: ${details.join(', ')}`;
}

/** Describes the right that an ACL user lacks, without names of keys and channels. */
function deniedRight(message: string): string | undefined {
  const command = /^NOPERM .*'([a-z|]+)' command/.exec(message)?.[1];
  if (command !== undefined) return `the ACL user may not run ${command}`;
  const kind = /^NOPERM .*\b(key|channel)s?\b/.exec(message)?.[1];
  return kind === undefined ? undefined : `the ACL user may not use the ${kind}s of this prefix`;
}

/** ioredis keeps only the text of the last sentinel's failure. */
function describeSentinels(message: string): string {
  const last = /Last error: (.*)$/.exec(message)?.[1];
  if (last === undefined) return 'no sentinel knows the master by this name';
  const code = /^[A-Z]+(?= )/.exec(last)?.[0];
  if (code !== undefined && code in REPLY_CODES) return `${describeReply(last)} (sentinel)`;
  const systemCode = /\bE[A-Z]{3,}\b/.exec(last)?.[0];
  return systemCode === undefined ? 'no sentinel answers' : `no sentinel answers: ${systemCode}`;
}

function whereOf(error: Error): readonly string[] {
  if ('path' in error && typeof error.path === 'string') return [error.path];
  const hasAddress = 'address' in error && 'port' in error;
  return hasAddress ? [`${String(error.address)}:${String(error.port)}`] : [];
}

/** By its shape, because errors of Node are not instances of `Error` in the realm of a test. */
function isError(value: unknown): value is Error {
  return typeof value === 'object' && value !== null && 'name' in value && 'message' in value;
}
