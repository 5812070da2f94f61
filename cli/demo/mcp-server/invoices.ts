/** An invoice of the demo. */
export interface Invoice {
  readonly id: string;
  readonly customer: string;
  readonly amount: number;
  readonly currency: Currency;
  readonly status: InvoiceStatus;
}

/** The statuses that an invoice can have. */
export const INVOICE_STATUSES = ['open', 'paid', 'overdue'] as const;
/** The status of an invoice. */
export type InvoiceStatus = (typeof INVOICE_STATUSES)[number];

/** The currencies that amounts can have. */
export const CURRENCIES = ['EUR', 'GBP', 'JPY', 'USD'] as const;
/** The currency of an amount. */
export type Currency = (typeof CURRENCIES)[number];

/** One euro in each currency. */
const RATES: Readonly<Record<Currency, number>> = { EUR: 1, GBP: 0.85, JPY: 170, USD: 1.1 };

const SAMPLES: readonly Invoice[] = [
  { id: 'INV-1001', customer: 'Hotel Astoria', amount: 1280, currency: 'EUR', status: 'paid' },
  { id: 'INV-1002', customer: 'Brick & Sons', amount: 460.5, currency: 'GBP', status: 'open' },
  { id: 'INV-1003', customer: 'Sakura Trading', amount: 98000, currency: 'JPY', status: 'overdue' },
  { id: 'INV-1004', customer: 'Blue Ridge Labs', amount: 7400, currency: 'USD', status: 'open' },
  { id: 'INV-1005', customer: 'Café Lumière', amount: 312.9, currency: 'EUR', status: 'overdue' },
];

/** The data of the sample server, in memory and reset at each start. */
export class InvoiceBook {
  readonly #invoices = new Map(SAMPLES.map((invoice) => [invoice.id, invoice]));

  list(status?: InvoiceStatus): readonly Invoice[] {
    const invoices = [...this.#invoices.values()];
    return status === undefined ? invoices : invoices.filter((each) => each.status === status);
  }

  find(id: string): Invoice | undefined {
    return this.#invoices.get(id);
  }

  /** Returns whether there was such an invoice. */
  delete(id: string): boolean {
    return this.#invoices.delete(id);
  }
}

/** Converts at rates that never change, rounded to cents. */
export function convertCurrency(amount: number, from: Currency, to: Currency): number {
  return Math.round((amount / RATES[from]) * RATES[to] * 100) / 100;
}
