import type { ApiObject } from './api-object.ts';
import type { ResourceDefinition } from './resource-definition.ts';
import { badRequest } from './status-error.ts';

/** Whether an object is selected. */
export type Selector = (object: ApiObject) => boolean;

interface Term {
  readonly name: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

/** Returns the name that a field selector requires; undefined if it requires none. */
export function selectedName(fieldSelector: string): string | undefined {
  return termsOf(fieldSelector, 'field').find(
    ({ name, operator }) => name === 'metadata.name' && operator === '=',
  )?.value;
}

/** Parses `fieldSelector`: terms joined by commas. */
export function fieldSelectorOf(definition: ResourceDefinition, text: string): Selector {
  const terms = termsOf(text, 'field').map(({ name, operator, value }) => {
    const read = fieldReader(definition, name);
    return (object: ApiObject) => (read(object) === value) === (operator === '=');
  });
  return (object) => terms.every((holds) => holds(object));
}

function fieldReader(definition: ResourceDefinition, name: string): (object: ApiObject) => string {
  if (name === 'metadata.name') return ({ metadata }) => metadata.name;
  if (name === 'metadata.namespace') return ({ metadata }) => metadata.namespace ?? '';
  const read = definition.selectableFields[name];
  if (read === undefined) throw badRequest(`field label not supported: ${name}`);
  return read;
}

const LABEL_NAME = /^!?[A-Za-z0-9][-A-Za-z0-9_./]*$/;

/** Parses `labelSelector`: equality, inequality and existence, joined by commas. */
export function labelSelectorOf(text: string): Selector {
  const terms = text
    .split(',')
    .filter((term) => term !== '')
    .map(labelTerm);
  return ({ metadata }) => terms.every((holds) => holds(metadata.labels ?? {}));
}

function labelTerm(term: string): (labels: Readonly<Record<string, string>>) => boolean {
  const text = term.trim();
  if (text.includes('=')) {
    const [{ name, operator, value }] = termsOf(text, 'label') as [Term];
    return (labels) => (labels[name] === value) === (operator === '=');
  }
  if (!LABEL_NAME.test(text)) {
    throw badRequest(`unable to parse requirement: found '${text}'`);
  }
  const name = text.replace('!', '');
  return (labels) => Object.hasOwn(labels, name) !== text.startsWith('!');
}

function termsOf(text: string, what: string): readonly Term[] {
  const terms = text.split(',').filter((term) => term !== '');
  return terms.map((term) => {
    const [, name, operator, value] = /^([^=!]+)(=|==|!=)([^=!]*)$/.exec(term.trim()) ?? [];
    if (name === undefined || value === undefined) {
      throw badRequest(`invalid ${what} selector: "${text}"; can't understand '${term}'`);
    }
    return { name, operator: operator === '!=' ? '!=' : '=', value };
  });
}
