import { readCertificate } from '../../../controller/push/server/server-certificate.ts';
import { CommandFailure } from '../../command-failure.ts';
import type { ControllerFlags } from './controller-flags.ts';

/** Throws `CommandFailure` if the certificate of the push listener cannot be used. */
export async function checkCertificate({
  pushTlsDirectory,
}: Pick<ControllerFlags, 'pushTlsDirectory'>): Promise<void> {
  try {
    await readCertificate(pushTlsDirectory);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(`--push-tls-dir: ${reason}`, { cause: error });
  }
}
