import { CRITERIA, definitionOf } from '../../../shared/policy/criteria.ts';
import type {
  CriterionDefinition,
  Report,
} from '../../../shared/policy/language/criterion-definition.ts';
import type { Criterion } from '../../../shared/policy/policy.ts';
import { didYouMean } from '../../validate/did-you-mean.ts';
import { memberPath } from '../../validate/field-path.ts';
import type { Problem } from '../../validate/problem.ts';
import { made, invalid, type CompileResult } from '../compile-result.ts';

/** Compiles one criterion: an object with the criterion's name as its only key. */
export function compileCriterion(criterion: unknown, path: string): CompileResult<Criterion> {
  if (typeof criterion !== 'object' || criterion === null || Array.isArray(criterion)) {
    return invalid(path, 'InvalidPolicy', 'must be a criterion such as `email: user@example.com`');
  }
  const [first, ...others] = Object.entries<unknown>({ ...criterion });
  if (first === undefined) return invalid(path, 'InvalidPolicy', 'must name a criterion');
  if (others.length > 0) {
    return invalid(
      path,
      'InvalidPolicy',
      'must name one criterion; write others as separate items',
    );
  }
  const [name, value] = first;
  return compileNamed(name, value, memberPath(path, name));
}

/** A path begins with the first slash of the name, as in `claim/department`. */
function compileNamed(written: string, value: unknown, path: string): CompileResult<Criterion> {
  const slash = written.indexOf('/');
  const name = slash === -1 ? written : written.slice(0, slash);
  const subPath = slash === -1 ? undefined : written.slice(slash);
  const definition = definitionOf(name);
  if (definition === undefined || (subPath !== undefined && definition.readPath === undefined)) {
    const known = CRITERIA.map((one) => one.name);
    return invalid(path, 'InvalidPolicy', `is not a known criterion${didYouMean(written, known)}`);
  }
  if (definition.readPath !== undefined && subPath === undefined) {
    const { example = name } = definition;
    const message = `is not a known criterion; write what it looks at behind a slash, as in ${example}`;
    return invalid(path, 'InvalidPolicy', message);
  }
  return compileOperand(definition, { subPath, value, path });
}

interface Written {
  readonly subPath: string | undefined;
  readonly value: unknown;
  readonly path: string;
}

function compileOperand(
  { name, readPath, readOperand }: CriterionDefinition,
  { subPath, value, path }: Written,
): CompileResult<Criterion> {
  const problems: Problem[] = [];
  const report: Report = (message, place = [], known) => {
    const hint = known === undefined ? '' : didYouMean(String(place.at(-1)), known);
    const at = place.reduce<string>(memberPath, path);
    problems.push({ path: at, reason: 'InvalidPolicy', message: message + hint });
    return null;
  };
  const segments = subPath === undefined ? undefined : readPath?.(subPath, report);
  const operand = readOperand(value, report);
  if (problems.length > 0) return { kind: 'invalid', problems };
  // The definition of a name reads operands of its form.
  return made({ kind: name, ...(segments && { path: segments }), ...operand } as Criterion);
}
