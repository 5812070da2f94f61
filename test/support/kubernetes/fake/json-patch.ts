import { textAt } from './field-reading.ts';
import { isEqual, isList, isObject, type Json, without } from './json.ts';
import { badRequest, StatusError } from './status-error.ts';

/** Applies a JSON Patch (RFC 6902). */
export function jsonPatch(target: Json, patch: Json | undefined): Json {
  if (!isList(patch)) {
    throw badRequest('json: cannot unmarshal object into Go value of type jsonpatch.Patch');
  }
  return patch.reduce<Json>(applyOperation, target);
}

function applyOperation(target: Json, operation: Json): Json {
  if (!isObject(operation)) throw refused();
  const { value } = operation;
  const op = textAt(operation, 'op');
  const path = pointerOf(operation['path']);
  switch (op) {
    case 'add':
      return change(target, path, (holder, last) => added(holder, last, given(value)));
    case 'remove':
      return change(target, path, removed);
    case 'replace':
      return change(change(target, path, removed), path, (holder, last) =>
        added(holder, last, given(value)),
      );
    case 'test':
      if (!isEqual(valueAt(target, path), given(value))) throw refused();
      return target;
    case 'copy':
    case 'move': {
      const from = pointerOf(operation['from']);
      const source = valueAt(target, from);
      const rest = op === 'move' ? change(target, from, removed) : target;
      return change(rest, path, (holder, last) => added(holder, last, source));
    }
    default:
      throw refused();
  }
}

/** RFC 6901. */
function pointerOf(pointer: Json | undefined): readonly string[] {
  if (typeof pointer !== 'string' || !pointer.startsWith('/')) throw refused();
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function valueAt(target: Json, path: readonly string[]): Json {
  return path.reduce<Json>((value, part) => memberOf(value, part), target);
}

/** Returns the value with a change in the object or list that holds the end of the path. */
function change(
  target: Json,
  [first, ...rest]: readonly string[],
  at: (holder: Json, last: string) => Json,
): Json {
  if (first === undefined) throw refused();
  if (rest.length === 0) return at(target, first);
  const member = change(memberOf(target, first), rest, at);
  if (isList(target)) return target.with(Number(first), member);
  return { ...(isObject(target) && target), [first]: member };
}

function memberOf(holder: Json, name: string): Json {
  if (isList(holder)) return holder[indexIn(name, holder.length - 1)] ?? null;
  const member = isObject(holder) ? holder[name] : undefined;
  if (member === undefined) throw refused();
  return member;
}

function added(holder: Json, last: string, value: Json): Json {
  if (isObject(holder)) return { ...holder, [last]: value };
  if (!isList(holder)) throw refused();
  const index = last === '-' ? holder.length : indexIn(last, holder.length);
  return holder.toSpliced(index, 0, value);
}

function removed(holder: Json, last: string): Json {
  if (isList(holder)) return holder.toSpliced(indexIn(last, holder.length - 1), 1);
  if (!isObject(holder) || holder[last] === undefined) throw refused();
  return without(holder, last);
}

function indexIn(text: string, last: number): number {
  const index = /^(0|[1-9]\d*)$/.test(text) ? Number(text) : Infinity;
  if (index > last) throw refused();
  return index;
}

function given(value: Json | undefined): Json {
  if (value === undefined) throw refused();
  return value;
}

/** The API server gives no more details. */
function refused(): StatusError {
  const message = 'the server rejected our request due to an error in our request';
  return new StatusError(422, 'Invalid', message, {});
}
