import { readFile } from 'node:fs/promises';

import type { RedisTarget } from '../../proxy/store/redis/connection/redis-target.ts';
import { RedisUrlError } from '../../proxy/store/redis/connection/redis-url-error.ts';
import { parseRedisUrl } from '../../proxy/store/redis/connection/redis-url.ts';
import { decodeText } from '../../shared/runtime/decode-text.ts';
import { errorCode } from '../../shared/runtime/error-code.ts';
import { CommandFailure } from '../command-failure.ts';
import { UsageError } from '../usage-error.ts';
import type { RedisSource } from '../flags/redis-flags.ts';

/** Reads the URL of Redis. Throws `UsageError`, which never shows the password in it. */
export async function readRedisTarget({ kind, value }: RedisSource): Promise<RedisTarget> {
  const place = kind === 'url' ? '--redis-url' : `--redis-url-file ${value}`;
  const url = kind === 'url' ? value : await readUrlFile(value);
  if (url === '') throw new UsageError(`${place} is empty`);
  try {
    return parseRedisUrl(url);
  } catch (error) {
    if (!(error instanceof RedisUrlError)) throw error;
    throw new UsageError(`${place}: ${error.message}`);
  }
}

async function readUrlBytes(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    const reason = errorCode(error) ?? 'unknown error';
    throw new CommandFailure(`cannot read --redis-url-file ${path}: ${reason}`, { cause: error });
  }
}

/** The line break at the end of the file is not part of the URL. */
async function readUrlFile(path: string): Promise<string> {
  const decoded = decodeText(await readUrlBytes(path));
  if (decoded.kind === 'text') return decoded.text.replace(/\r?\n$/, '');
  throw new CommandFailure(`cannot read --redis-url-file ${path}: ${decoded.message}`);
}
