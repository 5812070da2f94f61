import { ConnectionPageError } from '../errors/connection-errors.ts';

/** Returns the error for a user whose connection this is not. It names nobody. */
export function otherUser(explanation: string): ConnectionPageError {
  return new ConnectionPageError('connection-of-other-user', explanation, {
    status: 403,
    offersSignOut: true,
  });
}
