import { readFile } from 'node:fs/promises';

import { errorCode } from '../../shared/runtime/error-code.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import type { ProxyFlags } from '../commands/proxy/proxy-flags.ts';

/**
 * Logs which files of the flags cannot be used. The process continues: the files are read again at
 * every attempt to reach the controller, and the last good snapshot serves without a controller.
 */
export async function warnOfUnreadableFiles(
  { controllerCa, tokenFile }: Pick<ProxyFlags, 'controllerCa' | 'tokenFile'>,
  logger: Logger,
): Promise<void> {
  const files = [
    { flag: '--controller-ca', file: controllerCa },
    { flag: '--token-file', file: tokenFile },
  ];
  for (const { flag, file } of files) {
    const reason = await whyUnusable(file);
    if (reason === undefined) continue;
    const consequence = 'cannot connect to the controller without it';
    logger.warn('a file cannot be read', { flag, file, reason, consequence });
  }
}

async function whyUnusable(file: string): Promise<string | undefined> {
  try {
    const text = await readFile(file, 'utf8');
    return text.trim() === '' ? 'it is empty' : undefined;
  } catch (error) {
    return errorCode(error) ?? 'unknown error';
  }
}
