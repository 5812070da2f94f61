import { originOf, type Origin } from '../../shared/snapshot/origin.ts';
import { memberPath } from '../validate/field-path.ts';
import { parseAddress } from './address.ts';
import { all, andThen, made, type CompileResult } from './compile-result.ts';

/** Compiles a list of origins, which is at `path` in the resource. */
export function compileOrigins(
  origins: readonly string[],
  path: string,
): CompileResult<readonly Origin[]> {
  return all(
    origins.map((origin, index) =>
      andThen(parseAddress(origin, memberPath(path, index)), (address) => made(originOf(address))),
    ),
  );
}
