import { BadRequestError } from '../errors/request-errors.ts';

/**
 * Far more than any form or query of the gateway has. Attack: thousands of parameters in 64 KiB cost as much as
 * twenty ordinary requests to be listed.
 */
const MAX_PARAMETERS = 256;

/** Reads the parameters of a form, or of a query with its `?`. Throws a `BadRequestError` beyond 256 of them. */
export function readParameters(text: string): URLSearchParams {
  if (text.split('&', MAX_PARAMETERS + 1).length > MAX_PARAMETERS) {
    throw new BadRequestError('too-many-parameters', 'the request has too many parameters');
  }
  return new URLSearchParams(text);
}
