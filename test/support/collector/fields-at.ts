import type { DecodedMessage } from './decoded-message.ts';

/** A decoded message with the place where it stands. Its fields are of the types that the definitions say. */
export interface FieldsAt {
  readonly path: string;
  has(name: string): boolean;
  text(name: string): string | undefined;
  number(name: string): number | undefined;
  bigint(name: string): bigint | undefined;
  boolean(name: string): boolean | undefined;
  bytes(name: string): Buffer | undefined;
  /** A message without fields if it was not sent. */
  message(name: string): FieldsAt;
  messages(name: string): FieldsAt[];
}

/** Gives access to the fields of a message that a decoder has checked. */
export function fieldsAt(message: DecodedMessage, path: string): FieldsAt {
  // The decoders have read every field as its definition says, so each has the type that is asked for.
  return {
    path,
    has: (name) => message[name] !== undefined,
    text: (name) => message[name] as string | undefined,
    number: (name) => message[name] as number | undefined,
    bigint: (name) => message[name] as bigint | undefined,
    boolean: (name) => message[name] as boolean | undefined,
    bytes: (name) => message[name] as Buffer | undefined,
    message: (name) => {
      const inner = message[name] as DecodedMessage | undefined;
      return fieldsAt(inner ?? {}, `${path}.${name}`);
    },
    messages: (name) => {
      const list = (message[name] ?? []) as readonly DecodedMessage[];
      return list.map((each, index) => fieldsAt(each, `${path}.${name}[${String(index)}]`));
    },
  };
}
