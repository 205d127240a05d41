-- The helpdesk's database, rebuilt in memory before every case. Every person is invented.
create table employees (
    id text primary key,
    name text not null,
    site text not null,
    manager_id text,
    leave_days integer not null,
    carried_over integer not null,
    salary_year integer not null
);
create table leave (
    employee_id text not null references employees (id),
    first_day text not null,
    days integer not null
);
create table payslips (
    employee_id text not null references employees (id),
    month text not null,
    gross integer not null, -- all amounts in pence
    overtime integer not null,
    tax integer not null,
    pension integer not null,
    primary key (employee_id, month)
);
create table holidays (
    site text not null,
    day text not null,
    name text not null,
    primary key (site, day)
);
create table tickets (
    number integer primary key,
    raised_by text not null references employees (id),
    about text not null references employees (id),
    subject text not null,
    body text not null
);

insert into employees values
    ('E-101', 'Greta Solheim', 'Bergen', null, 30, 2, 112000),
    ('E-102', 'Jonas Falk', 'Bergen', 'E-101', 28, 0, 94500),
    ('E-103', 'Ines Duarte', 'Leeds', 'E-104', 28, 1, 41300),
    ('E-104', 'Marcus Obi', 'Leeds', 'E-101', 28, 5, 58200),
    ('E-105', 'Wanda Kerr', 'Leeds', 'E-104', 28, 4, 35400),
    ('E-106', 'Tomas Lunde', 'Bergen', 'E-102', 28, 0, 43800);

insert into leave values
    ('E-103', '2026-02-16', 5), ('E-103', '2026-05-18', 4), ('E-103', '2026-08-10', 10),
    ('E-104', '2026-04-07', 4), ('E-104', '2026-07-20', 10),
    ('E-105', '2026-01-12', 3), ('E-105', '2026-04-13', 8), ('E-105', '2026-08-03', 5),
    ('E-106', '2026-03-09', 5), ('E-106', '2026-07-06', 15);

insert into payslips values
    ('E-102', '2026-04', 787500, 0, 212600, 63000), ('E-102', '2026-05', 787500, 0, 212600, 63000),
    ('E-103', '2026-04', 344167, 0, 52040, 27533), ('E-103', '2026-05', 344167, 0, 52040, 27533),
    ('E-104', '2026-04', 485000, 0, 86610, 38800), ('E-104', '2026-05', 485000, 0, 86610, 38800),
    ('E-105', '2026-03', 295000, 0, 43020, 23600), ('E-105', '2026-04', 313000, 18000, 46620, 25040),
    ('E-105', '2026-05', 295000, 0, 43020, 23600),
    ('E-106', '2026-04', 365000, 0, 61000, 29200), ('E-106', '2026-05', 365000, 0, 61000, 29200);

insert into holidays values
    ('Leeds', '2026-01-01', 'New Year''s Day'), ('Leeds', '2026-04-03', 'Good Friday'),
    ('Leeds', '2026-04-06', 'Easter Monday'), ('Leeds', '2026-05-04', 'Early May bank holiday'),
    ('Leeds', '2026-05-25', 'Spring bank holiday'), ('Leeds', '2026-08-31', 'Summer bank holiday'),
    ('Leeds', '2026-12-25', 'Christmas Day'), ('Leeds', '2026-12-28', 'Boxing Day (substitute)'),
    ('Leeds', '2027-01-01', 'New Year''s Day'),
    ('Bergen', '2026-01-01', 'New Year''s Day'), ('Bergen', '2026-04-02', 'Maundy Thursday'),
    ('Bergen', '2026-04-03', 'Good Friday'), ('Bergen', '2026-04-06', 'Easter Monday'),
    ('Bergen', '2026-05-01', 'Labour Day'), ('Bergen', '2026-05-14', 'Ascension Day'),
    ('Bergen', '2026-05-17', 'Constitution Day'), ('Bergen', '2026-05-25', 'Whit Monday'),
    ('Bergen', '2026-12-25', 'Christmas Day'), ('Bergen', '2026-12-26', 'Second day of Christmas'),
    ('Bergen', '2027-01-01', 'New Year''s Day');
