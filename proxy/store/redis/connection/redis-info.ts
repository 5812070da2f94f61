/** Parses a reply to `INFO` into its fields; without fields if the user may not run it. */
export function parseRedisInfo(reply: unknown): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  if (typeof reply !== 'string') return fields;
  for (const line of reply.split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1));
  }
  return fields;
}

/**
 * Returns the policy by which a server evicts keys when its memory is full; undefined if it keeps
 * them.
 */
export function evictionPolicyOf(info: ReadonlyMap<string, string>): string | undefined {
  const policy = info.get('maxmemory_policy');
  const isLimited = (info.get('maxmemory') ?? '0') !== '0';
  return isLimited && policy !== 'noeviction' ? policy : undefined;
}
