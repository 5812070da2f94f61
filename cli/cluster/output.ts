import type { Arguments, Flag } from '../arguments.ts';
import { UsageError } from '../usage-error.ts';

/** Returns the flag for the form of an output, which is text without it. */
export function outputFlag(forms: readonly string[]): Flag {
  return {
    kind: 'text',
    short: 'o',
    value: forms.join('|'),
    description: 'The form of the output, in place of a table.',
  };
}

/** Reads such a flag. Throws `UsageError`. */
export function readOutput<Form extends string>(
  flags: Arguments,
  forms: readonly Form[],
): Form | undefined {
  const given = flags.text('output');
  const form = forms.find((candidate) => candidate === given);
  if (given === undefined || form !== undefined) return form;
  throw new UsageError(`--output is ${forms.join(' or ')}, not "${given}"`);
}

/** Writes a value as JSON or YAML. */
export async function formatValue(value: object, form: 'json' | 'yaml'): Promise<string> {
  if (form === 'json') return `${JSON.stringify(value, null, 2)}\n`;
  const { stringify } = await import('yaml');
  return stringify(value);
}
