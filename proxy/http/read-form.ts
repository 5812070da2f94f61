import { BadRequestError } from '../errors/request-errors.ts';
import { readBody } from './read-body.ts';
import { readParameters } from './read-parameters.ts';
import type { RequestMessage } from './request-message.ts';

const FORM = 'application/x-www-form-urlencoded';

const MAX_FORM_BYTES = 64 * 1024;

/** Reads a posted form of at most 64 KiB and 256 parameters; refuses a body of any other media type. */
export async function readForm(message: RequestMessage): Promise<URLSearchParams> {
  const mediaType = message.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (mediaType !== FORM) {
    throw new BadRequestError('not-a-form', `the body must be ${FORM}`);
  }
  if (message.headers['content-encoding'] !== undefined) {
    throw new BadRequestError('encoded-form', 'the form must not have a content encoding');
  }
  return readParameters((await readBody(message, MAX_FORM_BYTES)).toString('utf8'));
}
