const SAMPLES = ['Water the plants', 'Call the printer about the invoices'];

/** The notes of all accounts, in memory and reset at each start. */
export class Notebook {
  readonly #byAccount = new Map<string, readonly string[]>();

  list(account: string): readonly string[] {
    return this.#byAccount.get(account) ?? SAMPLES;
  }

  add(account: string, note: string): void {
    this.#byAccount.set(account, [...this.list(account), note]);
  }
}
