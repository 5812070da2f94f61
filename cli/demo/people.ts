/** A person who can sign in at the identity provider of the demo. */
export interface Person {
  /** The OpenID `sub`, and the value for `--as` of the demo client. */
  readonly account: string;
  readonly name: string;
  readonly email: string;
  readonly groups: readonly string[];
}

/** The people of the demo: one of each kind that its policy distinguishes. */
export const PEOPLE: readonly Person[] = [
  {
    account: 'alice',
    name: 'Alice Adler',
    email: 'alice@example.com',
    groups: ['engineering'],
  },
  { account: 'bob', name: 'Bob Brandt', email: 'bob@example.com', groups: ['sales'] },
  {
    account: 'carol',
    name: 'Carol Costa',
    email: 'carol@example.com',
    groups: ['admins', 'on-call'],
  },
];

/** Finds a person by account. */
export function findPerson(account: string | null): Person | undefined {
  return PEOPLE.find((person) => person.account === account);
}
