import { InvalidRequestError } from '../errors/oauth-errors.ts';

/** The one parameter that may be repeated (RFC 8707, section 2). */
const REPEATABLE = 'resource';

/** Returns the value of a parameter; an empty one counts as absent (RFC 6749, section 3.1). */
export function parameter(parameters: URLSearchParams, name: string): string | undefined {
  const value = parameters.get(name);
  return value === null || value === '' ? undefined : value;
}

/** Returns the value of a parameter; throws an `InvalidRequestError` if it is absent. */
export function requiredParameter(parameters: URLSearchParams, name: string): string {
  const value = parameter(parameters, name);
  if (value === undefined) throw new InvalidRequestError(`${name} is missing`);
  return value;
}

/**
 * Refuses repeated parameters (RFC 6749, section 3.1): two parsers could read different values.
 */
export function refuseRepeated(parameters: URLSearchParams): void {
  const seen = new Set<string>();
  for (const name of parameters.keys()) {
    if (seen.has(name) && name !== REPEATABLE) {
      throw new InvalidRequestError('a parameter is repeated');
    }
    seen.add(name);
  }
}
