import { untilTerminated } from '../../shared/runtime/lifecycle.ts';
import { LineWriter } from '../../shared/telemetry/line-writer.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import type { Command } from '../command.ts';
import { readRedisTarget } from '../process/redis-target.ts';
import { readRunOptions, RUN_LINE } from './run/run-options.ts';
import { startStandaloneGateway } from '../process/standalone-gateway.ts';

/** `gatehouse run`: the whole gateway in one process, until a signal ends it. */
export const RUN: Command = {
  line: RUN_LINE,
  async run(flags, environment) {
    const options = readRunOptions(flags);
    const redis = options.redis && (await readRedisTarget(options.redis));
    const lines = new LineWriter(process.stdout);
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
  },
};
