import { isObject, type JsonObject } from './json.ts';

/** The member of a field in FieldsV1 that stands for the field itself. */
const ITSELF = '.';

/**
 * A set of fields of an object, as a tree of path elements in the spelling of FieldsV1: `f:name` for
 * a member, `k:{"type":"Accepted"}` for an item of a list with keys, `v:"x"` for an item of a set.
 */
export class FieldSet {
  static readonly empty = new FieldSet(false, new Map());
  /** The field itself, without the fields in it. */
  static readonly leaf = new FieldSet(true, new Map());

  readonly hasSelf: boolean;
  readonly children: ReadonlyMap<string, FieldSet>;

  constructor(hasSelf: boolean, children: ReadonlyMap<string, FieldSet>) {
    this.hasSelf = hasSelf;
    this.children = children;
  }

  static of(children: Iterable<readonly [string, FieldSet]>, hasSelf = false): FieldSet {
    return new FieldSet(hasSelf, new Map([...children].filter(([, child]) => !child.isEmpty)));
  }

  static fromFields(fields: JsonObject): FieldSet {
    const names = Object.keys(fields);
    if (names.length === 0) return FieldSet.leaf;
    const children = names
      .filter((name) => name !== ITSELF)
      .map((name) => [name, FieldSet.fromFields(objectOf(fields, name))] as const);
    return new FieldSet(ITSELF in fields, new Map(children));
  }

  toFields(): JsonObject {
    const self = this.hasSelf && this.children.size > 0 ? [[ITSELF, {}] as const] : [];
    const children = [...this.children].map(([name, child]) => [name, child.toFields()] as const);
    return Object.fromEntries([...self, ...children.sort(([a], [b]) => (a < b ? -1 : 1))]);
  }

  get isEmpty(): boolean {
    return !this.hasSelf && this.children.size === 0;
  }

  child(name: string): FieldSet {
    return this.children.get(name) ?? FieldSet.empty;
  }

  union(other: FieldSet): FieldSet {
    if (other.isEmpty) return this;
    if (this.isEmpty) return other;
    const names = new Set([...this.children.keys(), ...other.children.keys()]);
    const children = [...names].map(
      (name) => [name, this.child(name).union(other.child(name))] as const,
    );
    return FieldSet.of(children, this.hasSelf || other.hasSelf);
  }

  difference(other: FieldSet): FieldSet {
    if (other.isEmpty || this.isEmpty) return this;
    const children = [...this.children].map(
      ([name, child]) => [name, child.difference(other.child(name))] as const,
    );
    return FieldSet.of(children, this.hasSelf && !other.hasSelf);
  }

  /** Returns the set with every field that contains one of its fields. */
  withParents(): FieldSet {
    const children = [...this.children].map(
      ([name, child]) => [name, child.withParents()] as const,
    );
    return FieldSet.of(children, this.hasSelf || children.length > 0);
  }

  intersection(other: FieldSet): FieldSet {
    const children = [...this.children].map(
      ([name, child]) => [name, child.intersection(other.child(name))] as const,
    );
    return FieldSet.of(children, this.hasSelf && other.hasSelf);
  }

  equals(other: FieldSet): boolean {
    return (
      this.hasSelf === other.hasSelf &&
      this.children.size === other.children.size &&
      [...this.children].every(([name, child]) => child.equals(other.child(name)))
    );
  }

  /** The paths of all fields in it, as messages spell them: `.status.conditions[type="A"].reason`. */
  paths(prefix = ''): readonly string[] {
    const self = this.hasSelf ? [prefix] : [];
    const below = [...this.children].flatMap(([name, child]) =>
      child.paths(prefix + spelled(name)),
    );
    return [...self, ...below];
  }
}

function objectOf(fields: JsonObject, name: string): JsonObject {
  const member = fields[name];
  return isObject(member) ? member : {};
}

function spelled(element: string): string {
  const rest = element.slice('f:'.length);
  if (element.startsWith('f:')) return `.${rest}`;
  if (element.startsWith('v:')) return `[=${rest}]`;
  // Only `k:` is left, which is followed by a JSON object.
  const keys = Object.entries(JSON.parse(rest) as JsonObject);
  return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(',')}]`;
}
