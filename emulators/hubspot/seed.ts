/** A contact of the demo account. Properties that are absent are unset. */
export interface SeedContact {
  id: string;
  properties: Record<string, string>;
}

/** The contacts of the demo account, each made for a particular case in the pages' design or the tests. */
export const DEMO_CONTACTS: readonly SeedContact[] = [
  {
    id: '101',
    properties: {
      firstname: 'Jordan',
      middlename: 'Alex',
      lastname: 'Rivera',
      email: 'jordan.rivera@example.com',
      personal_email: 'jordan.rivera@example.com',
      school_email: 'jrivera@students.example.edu',
      school_id: 'TX-4417',
      school_name: 'Lincoln High School',
      phone: '+15125550142',
      address: '12 Oak Street',
      address2: 'Apt 4',
      city: 'Austin',
      // State and country are codes in this contact, and names in contact 102.
      state: 'TX',
      zip: '78701',
      country: 'US',
      high_school_name: 'Lincoln High School',
      high_school_graduation_year: '2028',
      high_school_gpa: '3.8',
      invitation_code: 'HONOR101',
    },
  },
  {
    id: '102',
    properties: {
      firstname: 'Amélie',
      lastname: 'Tremblay',
      email: 'amelie.tremblay@example.com',
      personal_email: 'amelie.tremblay@example.com',
      address: '48 rue Saint-Jean',
      city: 'Québec',
      state: 'Quebec',
      zip: 'G1R 1N8',
      country: 'Canada',
      high_school_name: 'École Saint-Louis',
      invitation_code: 'HONOR102',
    },
  },
  {
    id: '103',
    properties: {
      firstname: 'Sam',
      lastname: 'Okafor',
      email: 'sam.okafor@example.com',
      invitation_code: 'HONOR103',
    },
  },
  {
    id: '104',
    properties: {
      firstname: 'Priya',
      lastname: 'Natarajan',
      email: 'priya.natarajan@example.com',
      personal_email: 'priya.natarajan@example.com',
      address: '7 Lake Road',
      city: 'Bhubaneswar',
      // A subdivision whose current ISO code (OD) is missing in the reference data, so that only its name can match.
      state: 'Odisha',
      zip: '751001',
      country: 'India',
      high_school_name: 'Lakeside School',
      invitation_code: 'HONOR104',
    },
  },
  {
    id: '105',
    properties: {
      firstname: 'Lee',
      lastname: 'Chen',
      email: 'lee.chen@example.com',
      personal_email: 'lee.chen@example.com',
      membership_status: 'member',
      membership_name: 'Membership',
      invitation_code: 'HONOR105',
    },
  },
];
