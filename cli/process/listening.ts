import { errorCode } from '../../shared/runtime/error-code.ts';
import { describeError } from '../../shared/telemetry/describe-error.ts';
import { CommandFailure } from '../command-failure.ts';
import { formatAddress } from '../../shared/runtime/listen-address.ts';

/**
 * Waits until something listens. Throws a `CommandFailure` that explains why it cannot; `setBy` names
 * what sets the address.
 */
export async function listening<T>(opened: Promise<T>, setBy: string): Promise<T> {
  try {
    return await opened;
  } catch (error) {
    throw new CommandFailure(listenFailure(error, setBy), { cause: error });
  }
}

function listenFailure(error: unknown, setBy: string): string {
  const place = placeOf(error);
  switch (errorCode(error)) {
    case 'EADDRINUSE':
      return `cannot listen${place}: the port is in use; it is set by ${setBy}`;
    case 'EACCES':
      return `cannot listen${place}: not permitted`;
    case 'EADDRNOTAVAIL':
      return `cannot listen${place}: this machine does not have that address`;
    case undefined:
    default:
      return `cannot listen${place}: ${describeError(error)}`;
  }
}

/** Returns the address in the error of a socket, for the message. */
function placeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  if (!('address' in error) || !('port' in error)) return '';
  return ` on ${formatAddress({ host: String(error.address), port: Number(error.port) })}`;
}
