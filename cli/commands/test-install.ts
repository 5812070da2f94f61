import { monotonicClock } from '../../shared/runtime/clock.ts';
import type { Arguments } from '../arguments.ts';
import type { CommandStreams } from '../command.ts';
import { checkInstallation } from '../installation/check-installation.ts';
import { connectToCluster } from '../process/connect-to-cluster.ts';
import { readTestInstallFlags } from './test-install/test-install-flags.ts';

/** Runs `gatehouse test-install`. Fails with what is wrong. */
export async function runTestInstall(
  flags: Arguments,
  { environment, stdout }: CommandStreams,
): Promise<number> {
  const options = readTestInstallFlags(flags);
  const choice = { kubeconfig: flags.text('kubeconfig'), context: flags.text('context') };
  const { api } = await connectToCluster(choice, environment);
  const report = (line: string): void => void stdout.write(`${line}\n`);
  await checkInstallation({ ...options, api, clock: monotonicClock, report });
  return 0;
}
