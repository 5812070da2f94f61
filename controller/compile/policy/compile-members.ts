import { didYouMean } from '../../validate/did-you-mean.ts';
import { memberPath } from '../../validate/field-path.ts';
import { all, andThen, made, invalid, type CompileResult } from '../compile-result.ts';

interface Members<T> {
  /** The word for a member in messages. */
  readonly what: string;
  readonly known: readonly string[];
  readonly compile: (name: string, value: unknown, path: string) => CompileResult<T>;
}

/** Far more than there are known names. */
const MAX_MEMBERS = 64;

/** Compiles each member of an object that is not empty and has known names only. */
export function compileMembers<T>(
  value: unknown,
  path: string,
  { what, known, compile }: Members<T>,
): CompileResult<Readonly<Record<string, T>>> {
  const choice = known.join(', ');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return invalid(path, 'InvalidPolicy', `must be an object of ${choice}`);
  }
  const members = Object.entries<unknown>({ ...value });
  if (members.length === 0) {
    return invalid(path, 'InvalidPolicy', `must not be empty; can have ${choice}`);
  }
  if (members.length > MAX_MEMBERS) {
    return invalid(path, 'InvalidPolicy', `has too many members; can have ${choice}`);
  }
  const results = members.map(([name, member]): CompileResult<readonly [string, T]> => {
    const memberAt = memberPath(path, name);
    if (!known.includes(name)) {
      return invalid(memberAt, 'InvalidPolicy', `is not a known ${what}${didYouMean(name, known)}`);
    }
    return andThen(compile(name, member, memberAt), (compiled) => made([name, compiled] as const));
  });
  return andThen(all(results), (entries) => made(Object.fromEntries(entries)));
}
