import { untilTerminated } from '../../shared/runtime/lifecycle.ts';
import { openProcessLog } from '../../shared/telemetry/process-log.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import type { Arguments } from '../arguments.ts';
import type { CommandStreams } from '../command.ts';
import { readRedisTarget } from '../process/redis-target.ts';
import { startClusterProxy } from '../process/cluster-proxy.ts';
import { keepCompiledCode } from '../process/keep-compiled-code.ts';
import { readProxyFlags } from './proxy/proxy-flags.ts';

/** Runs `gatehouse proxy`, the data plane of a cluster, until a signal ends it. */
export async function runProxy(
  flags: Arguments,
  { environment, stdout }: CommandStreams,
): Promise<number> {
  const options = readProxyFlags(flags);
  keepCompiledCode();
  const redis = await readRedisTarget(options.redis);
  const lines = openProcessLog(stdout);
  const logger = createLogger('proxy', lines);
  const terminated = untilTerminated();
  await using proxy = await startClusterProxy({ ...options, redis, environment, logger, lines });
  const signal = await Promise.race([terminated, proxy.failed]);
  logger.info('stopping', { signal });
  await proxy.drain();
  await proxy[Symbol.asyncDispose]();
  logger.info('stopped');
  return 0;
}
