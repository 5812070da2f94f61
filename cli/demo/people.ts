/** Somebody who can sign in at the demo's identity provider. */
export interface Person {
  /** The OpenID `sub`, and what `--as` of the demo client takes. */
  readonly account: string;
  readonly name: string;
  readonly email: string;
  readonly groups: readonly string[];
}

/** Everybody at the demo's company: one of each kind that its policy tells apart. */
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

export function findPerson(account: string | null): Person | undefined {
  return PEOPLE.find((person) => person.account === account);
}
