/** One cause of an error, as `details.causes` of a `Status` lists it. */
export interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

/** The cause for a value that is not allowed. */
export function invalidValue(field: string, value: unknown, why: string): Cause {
  const shown = JSON.stringify(value ?? null);
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${shown}: ${why}`, field };
}

/** The cause for a value that is missing. */
export function requiredValue(field: string, why = ''): Cause {
  const message = why === '' ? 'Required value' : `Required value: ${why}`;
  return { reason: 'FieldValueRequired', message, field };
}
