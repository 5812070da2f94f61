import type { ApiObject } from './api-object.ts';
import { FieldSet } from './field-set.ts';
import { compare, fieldsOf } from './fields-of.ts';
import type { JsonObject } from './json.ts';
import {
  isSameWriter,
  lessFields,
  ownable,
  ownerOf,
  ownersOf,
  withOwners,
  type Owner,
  type Writer,
} from './managed-fields.ts';
import { mergeApplied, removeFields } from './merge.ts';
import type { ResourceDefinition } from './resource-definition.ts';
import { StatusError } from './status-error.ts';

export interface ApplyOptions {
  readonly writer: Writer;
  /** Whether to take fields from their owners. */
  readonly force: boolean;
  readonly time: string;
}

/**
 * Server-side apply: returns the object after a manager of fields states everything that it wants.
 *
 * Fields that the manager named before and leaves out now are removed, unless another manager owns
 * them too. A field of another manager that would change is a conflict.
 */
export function applyTo(
  definition: ResourceDefinition,
  live: ApiObject,
  applied: JsonObject & Pick<ApiObject, 'metadata'>,
  { writer, force, time }: ApplyOptions,
): ApiObject {
  const { schema } = definition;
  const wanted = ownable(applied);
  const fields = Object.keys(wanted).length === 0 ? FieldSet.empty : fieldsOf(schema, wanted);
  const owners = ownersOf(live);
  const own = owners.find((owner) => isSameWriter(owner, writer));
  const others = owners.filter((owner) => !isSameWriter(owner, writer));

  const merged = mergeApplied(schema, live, wanted);
  const { written } = compare(schema, live, merged);
  if (!force) refuseConflicts(others, written);
  const left = others.map((owner) => lessFields(owner, written));

  const stillOwned = left.reduce((all, owner) => all.union(owner.fields), fields);
  const dropped = (own?.fields ?? FieldSet.empty).difference(stillOwned.withParents());
  // An object always has `apiVersion`, `kind` and `metadata`, which have no owner.
  const result = removeFields(schema, merged, dropped) as ApiObject;
  const isUnchanged = own?.fields.equals(fields) === true;
  const next = isUnchanged ? own : ownerOf(definition, writer, { fields, time });
  return withOwners(result, [next, ...left]);
}

interface Conflict {
  readonly with: string;
  readonly path: string;
}

function refuseConflicts(others: readonly Owner[], written: FieldSet): void {
  const conflicts = others.flatMap((owner) =>
    written
      .intersection(owner.fields)
      .paths()
      .map((path) => ({ path, with: spelled(owner) })),
  );
  if (conflicts.length === 0) return;
  const count = `${String(conflicts.length)} conflict${conflicts.length === 1 ? '' : 's'}`;
  throw new StatusError(409, 'Conflict', `Apply failed with ${count}: ${inWords(conflicts)}`, {
    causes: conflicts.map((conflict) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${conflict.with}`,
      field: conflict.path,
    })),
  });
}

function inWords(conflicts: readonly Conflict[]): string {
  const [first] = conflicts;
  if (first !== undefined && conflicts.length === 1)
    return `conflict with ${first.with}: ${first.path}`;
  return [...Map.groupBy(conflicts, (conflict) => conflict.with)]
    .map(([owner, its]) =>
      [`conflicts with ${owner}:`, ...its.map(({ path }) => path)].join('\n- '),
    )
    .join('\n');
}

function spelled({ manager, operation, subresource, apiVersion }: Owner): string {
  const where = subresource === '' ? '' : ` with subresource "${subresource}"`;
  return `"${manager}"${where}${operation === 'Update' ? ` using ${apiVersion}` : ''}`;
}
