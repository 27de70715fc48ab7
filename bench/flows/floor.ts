import type { Join, Step } from './flow.ts';

/** The ten calls of a join as the floor takes them. */
export function floorSteps(): Step[] {
  const person = (join: Join) => `new${join.number}@example.org`;
  return [
    {
      name: 'eligibility',
      run: (join) => join.browser.get(`/eligibility?email=${person(join)}`),
    },
    {
      name: 'initiate',
      async run(join) {
        join.id = JSON.parse((await join.browser.post('/join', { email: person(join) })).body).id;
      },
    },
    { name: 'contact', run: (join) => join.browser.get(`/join/${join.id}/contact`) },
    {
      name: 'details',
      run: (join) => join.browser.put(`/join/${join.id}/details`, details),
    },
    {
      name: 'memberships',
      run: (join) => join.browser.get(`/join/${join.id}/membership`),
    },
    {
      name: 'membership',
      run: (join) => join.browser.put(`/join/${join.id}/membership`, { productId: 1 }),
    },
    { name: 'checkout', run: (join) => join.browser.get(`/join/${join.id}/checkout`) },
    {
      name: 'product',
      run: (join) => join.browser.put(`/join/${join.id}/product`, { productId: 4, amount: 500 }),
    },
    {
      name: 'intent',
      run: (join) => join.browser.post(`/join/${join.id}/payment-intent`, { amount: 3000 }),
    },
    {
      name: 'return',
      run: (join) => join.browser.post(`/join/${join.id}/post-payment`, {}),
    },
  ];
}

const details = {
  firstName: 'Ada',
  lastName: 'Lovelace',
  phone: '+44 20 7946 0000',
  dob: '1990-01-02',
  address: { line1: '1 High St', city: 'London', postcode: 'SW1A 1AA', country: 'GB' },
};
