import type { Route } from '../../crds/types.ts';
import {
  foldFieldName,
  GATEWAY_REQUEST_FIELDS,
  GATEWAY_RESPONSE_FIELDS,
  type FieldList,
} from '../../shared/snapshot/header-fields.ts';
import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';
import { memberPath } from '../validate/field-path.ts';
import { all, andThen, combine, invalid, made, type CompileResult } from './compile-result.ts';

type PassedHeaders = Pick<CompiledRoute, 'passRequestHeaders' | 'passResponseHeaders'>;

/** Compiles the names of header fields that a route lets through. */
export function compilePassedHeaders(spec: Route['spec']): CompileResult<PassedHeaders> {
  const parts = combine({
    request: compileNames(spec, 'passRequestHeaders', GATEWAY_REQUEST_FIELDS),
    response: compileNames(spec, 'passResponseHeaders', GATEWAY_RESPONSE_FIELDS),
  });
  return andThen(parts, ({ request, response }) =>
    made({
      ...(request.length > 0 && { passRequestHeaders: request }),
      ...(response.length > 0 && { passResponseHeaders: response }),
    }),
  );
}

/** Fields in `never` cannot be let through. */
function compileNames(
  spec: Route['spec'],
  field: 'passRequestHeaders' | 'passResponseHeaders',
  never: FieldList,
): CompileResult<readonly string[]> {
  const compiled = all(
    (spec[field] ?? []).map((name, index) => {
      const lower = name.toLowerCase();
      if (!never.has(foldFieldName(lower))) return made(lower);
      const message = 'cannot be let through, because the gateway itself decides about this field';
      return invalid(memberPath(`spec.${field}`, index), 'UnsupportedValue', message);
    }),
  );
  return andThen(compiled, (names) => made([...new Set(names)].sort()));
}
