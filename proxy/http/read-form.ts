import { BadRequestError } from '../errors/request-errors.ts';
import { readBody } from './read-body.ts';
import type { RequestMessage } from './request-message.ts';

const FORM = 'application/x-www-form-urlencoded';

const MAX_FORM_BYTES = 64 * 1024;

/**
 * Far more than any form has. Attack: thousands of parameters in 64 KiB cost as much as twenty ordinary
 * requests to be listed.
 */
const MAX_PARAMETERS = 256;

/** Reads a posted form of at most 64 KiB and 256 parameters; refuses a body of any other media type. */
export async function readForm(message: RequestMessage): Promise<URLSearchParams> {
  const mediaType = message.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (mediaType !== FORM) {
    throw new BadRequestError('not-a-form', `the body must be ${FORM}`);
  }
  if (message.headers['content-encoding'] !== undefined) {
    throw new BadRequestError('encoded-form', 'the form must not have a content encoding');
  }
  const text = (await readBody(message, MAX_FORM_BYTES)).toString('utf8');
  if (text.split('&', MAX_PARAMETERS + 1).length > MAX_PARAMETERS) {
    throw new BadRequestError('too-many-parameters', 'the form has too many parameters');
  }
  return new URLSearchParams(text);
}
