import { untilTerminated } from '../../shared/runtime/lifecycle.ts';
import { openProcessLog } from '../../shared/telemetry/process-log.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import type { Arguments } from '../arguments.ts';
import type { CommandStreams } from '../command.ts';
import { keepCompiledCode } from '../process/keep-compiled-code.ts';
import { readRedisTarget } from '../process/redis-target.ts';
import { readRunFlags } from './run/run-flags.ts';
import { startStandaloneGateway } from '../process/standalone-gateway.ts';

/** Runs `gatehouse run`, the whole gateway in one process, until a signal ends it. */
export async function runStandalone(
  flags: Arguments,
  { environment, stdout }: CommandStreams,
): Promise<number> {
  const options = readRunFlags(flags);
  keepCompiledCode();
  const redis = options.redis && (await readRedisTarget(options.redis));
  const lines = openProcessLog(stdout);
  const logger = createLogger('gatehouse', lines);
  const terminated = untilTerminated();
  const gateway = await startStandaloneGateway({
    ...options,
    redis,
    environment,
    logger,
    lines,
  });
  logger.info('listening', { addresses: gateway.addresses, admin: gateway.adminAddress });
  const signal = await terminated;
  logger.info('stopping', { signal });
  await gateway.close();
  logger.info('stopped');
  return 0;
}
